/// The lifetime of the process, or the one that the embedding program chooses.
public enum AppLifetime: OutermostLifetime {
    /// `app`.
    public static let name = "app"
}

/// The lifetime from sign-in to sign-out.
public enum SessionLifetime: InnerLifetime {
    /// Inside an app.
    public typealias Outer = AppLifetime
    /// `session`.
    public static let name = "session"
}

/// The lifetime of a user's work with one feature.
public enum FeatureLifetime: InnerLifetime {
    /// Inside a session.
    public typealias Outer = SessionLifetime
    /// `feature`.
    public static let name = "feature"
}

/// The lifetime of one request or one command.
public enum InteractionLifetime: InnerLifetime {
    /// Inside a feature.
    public typealias Outer = FeatureLifetime
    /// `interaction`.
    public static let name = "interaction"
}
