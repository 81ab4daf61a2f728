/// Reports that are saved together, and how many were lost before them.
package struct ReportBatch: Hashable, Sendable {
    /// The reports, one a line.
    package let lines: [String]
    /// How many were lost and have not been told of.
    package let lost: Int

    /// The batch as it is saved: how many were lost, if any were, and the reports, in UTF-8, with a line feed behind each
    /// line.
    package var data: [UInt8] {
        let notice = lost == 1 ? "1 error was not reported" : "\(lost) errors were not reported"
        return ((lost == 0 ? [] : [notice]) + lines).flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }
}
