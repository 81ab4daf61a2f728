// The headers are included by CVips alone; this target tells SwiftPM where they are.
