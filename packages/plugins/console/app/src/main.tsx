import { render } from "preact";

render(<main>Workspaces</main>, document.querySelector("#app") as Element);
