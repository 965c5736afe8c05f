"""Running a playbook: sessions, verdicts, approvals, the driver."""
