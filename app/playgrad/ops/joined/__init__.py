"""Joined calls: functions that are called once for equal calls of many samples."""
