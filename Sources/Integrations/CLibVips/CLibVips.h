// Only CVips includes the headers of libvips. This target lets SwiftPM find them.
