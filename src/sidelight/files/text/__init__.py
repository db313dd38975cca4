"""Text, line by line or block by block: delimited tables, svmlight, C4.5, KEEL and folders of documents."""
