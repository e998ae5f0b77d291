"""spatialsplit: from raw species records to a published benchmark with an honest spatial split."""
