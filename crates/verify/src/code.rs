//! How codes are declared; [`explain`](crate::explain) says what each means.

/// Declares an enum of codes in ascending order, with a list of all and their names.
macro_rules! codes {
    ($(#[$about:meta])* $name:ident: $($code:ident)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "`explain` says what each means")]
        #[non_exhaustive]
        pub enum $name {
            $($code,)*
        }

        impl $name {
            /// Every code, in ascending order.
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(match self {
                    $(Self::$code => stringify!($code),)*
                })
            }
        }
    };
}

pub(crate) use codes;
