public import InwardScopes

/// As long as the process, or as the embedding program decides.
public enum AppLifetime: OutermostLifetime {
    /// `app`.
    public static let name = "app"
}

/// From signing in to signing out.
public enum UserLifetime: InnerLifetime {
    /// Inside an app.
    public typealias Outer = AppLifetime
    /// `user`.
    public static let name = "user"
}

/// As long as a user is busy with one subject.
public enum FeatureLifetime: InnerLifetime {
    /// Inside a user's session.
    public typealias Outer = UserLifetime
    /// `feature`.
    public static let name = "feature"
}

/// As long as one request or one command.
public enum InteractionLifetime: InnerLifetime {
    /// Inside a feature.
    public typealias Outer = FeatureLifetime
    /// `interaction`.
    public static let name = "interaction"
}
