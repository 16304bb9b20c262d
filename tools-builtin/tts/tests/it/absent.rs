//! A machine without the program.

use serde_json::json;
use tools::{ErrorCode, Services};
use tools_exec::Sandbox;
use tools_fs::Workspace;
use tools_testkit::{TempWorkspace, TestHost};
use tools_tts::Speech;

#[tokio::test]
async fn a_missing_program_is_an_error_with_the_line_that_installs_it() {
    let workspace = TempWorkspace::new();
    let open = || Workspace::open(workspace.path()).unwrap();
    let speech = || Speech::new(tools_tts::get("espeak-ng").unwrap(), None).unwrap();
    if Sandbox::default()
        .find_program(&open(), "espeak-ng")
        .is_none()
    {
        let host = TestHost::new(tools_tts::register)
            .with_grant(&["speech:read:text"])
            .with_service(open())
            .with_service(Sandbox::default())
            .with_service(speech());
        let error = host
            .call("tts.speak", json!({"text": "hello"}))
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("apt-get install espeak-ng"),
            "{error}"
        );
        assert_eq!(error.code(), ErrorCode::Unavailable);
        let mut services = Services::new();
        services.insert(open());
        services.insert(Sandbox::default());
        let missing = (speech().backend().missing)(&services).unwrap();
        assert!(missing.contains("apt-get install espeak-ng"), "{missing}");
    }
    let nowhere = (speech().backend().missing)(&Services::new()).unwrap();
    assert!(nowhere.contains("no sandbox"), "{nowhere}");
    assert_eq!(
        Sandbox::default().find_program(&open(), "no-such-program"),
        None
    );
    assert_eq!(Sandbox::default().find_program(&open(), "/bin/sh"), None);
    assert!(Sandbox::default().find_program(&open(), "sh").is_some());
}
