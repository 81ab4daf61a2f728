/// A parser that splits the arguments of a command into options and positional arguments.
///
/// The command decides what each option means, and takes the value of an option that has one:
///
/// ```swift
/// var (output, names, isVerbose) = ("", [String](), false)
/// var parser = OptionParser(Array(CommandLine.arguments.dropFirst()))
/// while let argument = parser.next() {
///     switch argument {
///     case .option("--output", _): output = try parser.value("a directory")
///     case .option("--verbose", nil): isVerbose = true
///     case .option: throw parser.unknownOption
///     case .positional(let name): names.append(name)
///     }
/// }
/// ```
package struct OptionParser {
    /// An argument of a command.
    package enum Argument: Equatable {
        /// The name of an option with its dashes, and the text after its equals sign, if it has one.
        case option(String, inlineValue: String?)
        /// An argument that does not begin with a dash, or that follows `--`.
        case positional(String)
    }

    private var remaining: ArraySlice<String>
    private var optionsMayFollow = true
    private var current = ""
    private var option: (name: String, inlineValue: String?)?
    private var optionsWithValue: [String] = []

    /// Creates a parser for the arguments after the program's name.
    package init(_ arguments: [String]) {
        remaining = arguments[...]
    }

    /// Returns the next argument, or `nil` after the last one. Skips the first `--`, after which all arguments are positional.
    package mutating func next() -> Argument? {
        if optionsMayFollow, remaining.first == "--" {
            remaining.removeFirst()
            optionsMayFollow = false
        }
        guard let argument = remaining.popFirst() else { return nil }
        current = argument
        guard optionsMayFollow, argument.hasPrefix("-") else {
            option = nil
            return .positional(argument)
        }
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let inlineValue = parts.count > 1 ? parts[1] : nil
        option = (parts[0], inlineValue)
        return .option(parts[0], inlineValue: inlineValue)
    }

    /// The error to throw if the command does not know the current option.
    package var unknownOption: UsageError { UsageError("there is no option \(current)") }

    /// Takes the value of the current option: the text after its equals sign or, without one, the next argument.
    ///
    /// The next argument is the value even if it begins with a dash, because file names and numbers can begin with one.
    ///
    /// - Parameters:
    ///   - expected: A description of the value for the error message, such as “a directory”.
    ///   - canRepeat: Whether the option can be given more than once.
    /// - Precondition: The last call of ``next()`` returned an option.
    /// - Returns: The value, which is not empty.
    /// - Throws: A ``UsageError`` if the option was given before, or its value is missing or empty.
    package mutating func value(
        _ expected: String = "a value",
        canRepeat: Bool = false
    ) throws(UsageError) -> String {
        try value(expected, canRepeat: canRepeat) { $0 }
    }

    /// Takes the value of the current option and converts it.
    ///
    /// - Parameters:
    ///   - expected: A description of the value for the error message, such as “a directory”.
    ///   - canRepeat: Whether the option can be given more than once.
    ///   - convert: Returns the converted value, or `nil` if the text is not valid.
    /// - Precondition: The last call of ``next()`` returned an option.
    /// - Returns: The converted value.
    /// - Throws: A ``UsageError`` if the option was given before, or its value is missing, empty or not valid.
    package mutating func value<Value>(
        _ expected: String,
        canRepeat: Bool = false,
        convert: (String) -> Value?
    ) throws(UsageError) -> Value {
        // A programming error. Arguments cannot cause it, because commands take a value only in the branch of an option.
        guard let option else { preconditionFailure("value() must be called after next() has returned an option.") }
        guard canRepeat || !optionsWithValue.contains(option.name) else {
            throw UsageError("\(option.name) can be given only once")
        }
        optionsWithValue.append(option.name)
        guard let text = option.inlineValue ?? remaining.popFirst(), !text.isEmpty, let value = convert(text) else {
            throw UsageError("\(option.name) needs \(expected)")
        }
        return value
    }
}

/// An error for an invalid argument.
package struct UsageError: Error, Equatable {
    /// The problem, as a sentence without its capital letter and period.
    package let explanation: String

    /// Creates an error with an explanation.
    package init(_ explanation: String) {
        self.explanation = explanation
    }
}
