"""What comes back: plans and programs, verdicts, pages and pictures."""
