import Synchronization

/// An object of a scope that is created when it is first used, and closed with the scope if it was.
///
/// Use it for objects that many programs never need, such as an image codec in a service that shows no images.
///
///     let app = await Scope<AppLifetime, AppObjects>.open("app", limit: limit) { opening in
///         AppObjects(codec: opening.onFirstUse(as: "codec") { Codec() } closing: { await $0.close() })
///     }
///     let codec = try app.objects().codec.object()
///
/// Register it with ``ScopeOpening/onFirstUse(as:making:closing:)``. Everything that refers to it shares the same object.
public final class OnFirstUse<Object: Sendable>: Sendable {
    private enum State {
        case unused(make: @Sendable () throws(ScopeError) -> Object)
        case created(Object)
        case closed
    }

    private let name: String
    private let state: Mutex<State>

    init(_ name: String, making make: @escaping @Sendable () throws(ScopeError) -> Object) {
        self.name = name
        state = Mutex(.unused(make: make))
    }

    /// Returns the object, and creates it if this is its first use.
    ///
    /// Concurrent first uses wait for one creation.
    ///
    /// - Returns: the object, the same each time.
    /// - Throws: a ``ScopeError`` if the scope was closed before the first use, or if an object that this one needs belongs to a
    ///   closed scope. In the latter case, the next use tries again.
    public func object() throws(ScopeError) -> Object {
        try state.withLock { state throws(ScopeError) in
            switch state {
            case .created(let object): return object
            case .closed: throw ScopeError(closed: name)
            case .unused(let make):
                let object = try make()
                state = .created(object)
                return object
            }
        }
    }

    /// Prevents later creation, and returns the object; `nil` if it was never used.
    func end() -> Object? {
        state.withLock { state in
            defer { state = .closed }
            return if case .created(let object) = state { object } else { nil }
        }
    }
}

extension OnFirstUse: DescribedOnFirstUse {
    var created: Any? { state.withLock { if case .created(let object) = $0 { object } else { nil } } }

    var typeName: String { "\(Object.self)" }
}

/// An object that may not exist yet, for the description of its scope.
protocol DescribedOnFirstUse {
    /// The object; `nil` if it was never used.
    var created: Any? { get }
    /// The name of the object's type.
    var typeName: String { get }
}
