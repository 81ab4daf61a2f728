// Only CPango includes the headers of Pango. This target lets SwiftPM find them.
