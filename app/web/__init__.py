"""The page that people look at: plain files, no build step, nothing from other hosts."""
