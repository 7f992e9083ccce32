/**
 * The shadow root of an element that has an editor. Keys that are typed in it do not reach the page, where single keys are commands.
 */
export function shadowOf(host: HTMLElement): ShadowRoot {
  if (host.shadowRoot !== null) return host.shadowRoot;
  host.addEventListener("keydown", (event) => event.stopPropagation());
  return host.attachShadow({ mode: "open" });
}
