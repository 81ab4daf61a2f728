import Foundation

/// Writes a line, at once, so that what was said shows whatever happens next.
public func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}
