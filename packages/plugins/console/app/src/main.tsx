import { effect } from "@preact/signals";
import { render } from "preact";
import { beginSession, onlyWorkspace } from "./api/session.ts";
import { navigate } from "./route.ts";
import { App } from "./ui/app.tsx";
import { applyTheme } from "./ui/theme.ts";

applyTheme();
// Before the page is rendered: the root workspace does not know such a user.
effect(() => {
  const workspace = onlyWorkspace.value;
  if (workspace !== undefined && location.hash.length < 2) navigate({ workspace, query: {} }, { replace: true });
});
render(<App />, document.querySelector("#app") as Element);
void beginSession();
