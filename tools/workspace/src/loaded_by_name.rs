//! [`is_loaded_by_name`]: files that programs load from the folder in which they start.

/// The ends of names of configurations that are programs.
const CONFIGURATIONS: [&str; 3] = [".config.", ".conf.", "rc."];

/// The extensions of such files.
const LANGUAGES: [&str; 13] = [
    "cjs", "coffee", "cts", "js", "jsx", "lua", "mjs", "mts", "php", "py", "rb", "ts", "tsx",
];

/// Other names of configurations that are programs. Programs load them from the folder in which they start.
const NAMES: &str = "conftest.py dangerfile.js dangerfile.ts dodo.py fabfile.py gruntfile.js gulpfile.js \
    gulpfile.mjs gulpfile.ts manage.py noxfile.py sitecustomize.py tasks.py usercustomize.py \
    wscript";

/// The extensions of scripts that a shell runs by their name, also if another program of this name is meant.
const SHELLS: [&str; 6] = ["bat", "cmd", "command", "ps1", "vbs", "wsf"];

/// Returns true if programs load or run a file in the root because of its name. ASCII case does not count.
pub fn is_loaded_by_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_named = NAMES.split(' ').any(|one| one == name);
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return is_named;
    };
    let is_configuration = LANGUAGES.contains(&extension)
        && CONFIGURATIONS
            .iter()
            .any(|end| format!("{stem}.").ends_with(end));
    is_configuration || SHELLS.contains(&extension) || is_named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_that_is_code_is_known_by_its_name() {
        for name in [
            "vite.config.js",
            "Eslint.Config.MJS",
            "gunicorn.conf.py",
            "karma.conf.js",
            "babelrc.js",
            "startuprc.lua",
            "conftest.py",
            "Gruntfile.js",
            "wscript",
            "npm.cmd",
            "git.bat",
            "profile.ps1",
        ] {
            assert!(is_loaded_by_name(name), "{name}");
        }
        for name in [
            "main.py",
            "config.js",
            "README.md",
            "app.config.json",
            "nginx.conf",
            "rc",
            "a.sh",
            "Makefile",
        ] {
            assert!(!is_loaded_by_name(name), "{name}");
        }
    }
}
