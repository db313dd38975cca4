"""Tables in other coats: workbooks, SQLite databases, JSON records; each becomes columns in memory."""
