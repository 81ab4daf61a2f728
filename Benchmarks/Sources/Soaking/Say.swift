import Foundation

/// Prints a line without buffering, so that it is visible whatever happens next.
public func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}
