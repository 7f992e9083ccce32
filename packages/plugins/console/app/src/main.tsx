import { render } from "preact";
import { beginSession } from "./api/session.ts";
import { App } from "./ui/app.tsx";
import { applyTheme } from "./ui/theme.ts";

applyTheme();
render(<App />, document.querySelector("#app") as Element);
void beginSession();
