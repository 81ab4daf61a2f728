#if Observability
public import InwardCore
import InwardFetching
import InwardImages
import InwardRepositories
import InwardScopes
public import Logging

/// An error handler that hands each error to a logger whole, and passes it on.
///
///     let handler = IgnoringErrorHandler().logging(with: Logger(label: "comments"))
///
/// The record has the error itself, for backends that keep more than text. Its metadata has the type, the kind of failure, and the
/// description, by OpenTelemetry's names: `exception.type`, `error.type` and `exception.message`. Hidden characters in the
/// metadata are escaped. The identifier of the interaction is there too, if the error was handled in one.
public struct SwiftLogErrorHandler: ErrorHandler {
    private let base: any ErrorHandler
    private let logger: Logger
    private let level: @Sendable (any Error) -> Logger.Level

    init(_ base: any ErrorHandler, logger: Logger, level: @escaping @Sendable (any Error) -> Logger.Level) {
        self.base = base
        self.logger = logger
        self.level = level
    }

    /// Logs the error and passes it on.
    public func handle(_ error: any Error) {
        logger.log(
            level: level(error),
            "Error handled",
            error: error,
            metadata: .of(
                FetchAttributes.interaction.merging(
                    FetchAttributes([
                        AttributeName.exceptionType: .text(String(reflecting: type(of: error))),
                        AttributeName.errorType: .text(error.category),
                        AttributeName.errorMessage: .text("\(error)"),
                    ])
                )
            )
        )
        base.handle(error)
    }

    /// Closes the wrapped handler.
    public func close() async { await base.close() }

    /// The chain, starting with this handler.
    public var description: String { "logs with swift-log → \(base)" }
}

extension ErrorHandler {
    /// Returns a handler that hands each error to a logger before it passes the error on to this handler.
    ///
    /// - Parameters:
    ///   - logger: The logger.
    ///   - level: Returns the level for an error.
    /// - Returns: The outermost handler of the new chain.
    public func logging(
        with logger: Logger,
        at level: @escaping @Sendable (any Error) -> Logger.Level = { _ in .error }
    ) -> SwiftLogErrorHandler {
        SwiftLogErrorHandler(self, logger: logger, level: level)
    }
}

extension Error {
    /// The kind of failure, of which there are few: the reason of an error of this package, or the name of the error's type.
    var category: String {
        switch self {
        case let error as FetchError: error.status.map { "\($0.code)" } ?? error.reason.description
        case let error as RepositoryError: error.reason.description
        case let error as RecordStoreError: "\(error.reason)"
        case let error as ResilienceError: error.reason.description
        case let error as ImageError: "\(error.reason)"
        case let error as SessionRegistryError: error.reason.description
        case let error as RefusedWriteError: error.cause.category
        case let error as DelayedWriteError: error.cause.category
        case is CancellationError: "cancelled"
        // As an existential, because `Self` is one for the errors of an operation that throws any error.
        default: String(describing: type(of: self as any Error))
        }
    }

    /// What happened, for the errors of this package whose texts carry no credentials; `nil` for any other error, whose text can
    /// contain anything.
    var credentialFreeText: String? {
        switch self {
        case let error as FetchError: error.explanation
        case let error as RepositoryError: error.explanation
        case let error as RecordStoreError: error.explanation
        case let error as ResilienceError: error.description
        default: nil
        }
    }
}

extension Logger.MetadataProvider {
    /// Adds the identifier of the current interaction, `inward.interaction.id`, to every record of a logger.
    ///
    ///     let logger = Logger(label: "comments", metadataProvider: .interaction)
    public static let interaction = Logger.MetadataProvider { .of(.interaction) }
}
#endif
