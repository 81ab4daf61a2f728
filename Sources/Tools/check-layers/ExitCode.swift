/// How the program ended, as it tells whoever started it.
enum ExitCode: Int32 {
    /// The package keeps the contract, or what was to be written is written.
    case success = 0
    /// There are findings.
    case findings = 1
    /// There is no contract to check, or no package, or it was not told properly what to do.
    case failure = 2
}
