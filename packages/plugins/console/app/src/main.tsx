import { effect } from "@preact/signals";
import { render } from "preact";
import { beginSession, onlyWorkspace, session } from "./api/session.ts";
import { navigate, route } from "./route.ts";
import { App } from "./ui/app.tsx";
import { applyTheme } from "./ui/theme.ts";

applyTheme();
// Before the page is rendered: the root workspace does not know a user of another one.
effect(() => {
  if (session.value.state !== "signed-in" || location.hash.length > 1) return;
  const workspace = onlyWorkspace.value;
  const shown = route.peek();
  const isThere = workspace === undefined || `${shown.workspace}:`.startsWith(`${workspace}:`);
  navigate(isThere ? shown : { workspace, query: {} }, { replace: true });
});
render(<App />, document.querySelector("#app") as Element);
void beginSession();
