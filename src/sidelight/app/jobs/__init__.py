"""WORK: one folder a job, and beside them what all jobs share."""
