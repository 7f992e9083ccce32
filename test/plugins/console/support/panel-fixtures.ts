// Modules of panels that tests write into a folder: one that shows all that the contract gives, and those that fail.

/** Shows its context, and has a button for each function. */
const CONTRACT = `
export function mount(element, context) {
  const { object, client, workspace, user, api, elements, signal } = context;
  const notes = { group: "test.dev", version: "v1", resource: "notes" };
  const line = (id) => element.appendChild(Object.assign(document.createElement("p"), { id }));
  const button = (text, onclick) =>
    element.append(Object.assign(document.createElement("button"), { textContent: text, onclick }));
  line("where").textContent = [workspace.path, workspace.cluster, api, user.username].join(" ");
  const text = line("text");
  object.subscribe(({ spec }) => (text.textContent = "text: " + spec.text));
  const count = line("count");
  client.watch(notes, ({ items, state }) => (count.textContent = items.length + " notes, " + state));
  const result = line("result");
  const show = (promise) => promise.then((value) => (result.textContent = JSON.stringify(value)),
    (error) => (result.textContent = error.name + " " + (error.code ?? "") + " " + error.message));
  const own = { ...notes, name: object.current.metadata.name };
  button("patch", () => show(client.patch(own, { spec: { text: "patched" } }).then(({ spec }) => spec)));
  button("create", () => show(client.create(notes, { apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "made" }, spec: { text: "made" } }).then(() => "created")));
  button("delete", () => show(client.delete({ ...notes, name: "made" }).then(() => "deleted")));
  button("list", () => show(client.list(notes).then((items) => items.map(({ metadata }) => metadata.name))));
  button("may", () => show(Promise.all(["patch", "approve"].map((verb) => client.may({ ...own, verb })))));
  button("may elsewhere", () => show(client.may({ ...own, verb: "get", api: "services/no-such" })));
  button("missing", () => show(client.get({ ...notes, name: "missing" })));
  button("who", () => show(client.request("services/who")));
  button("elsewhere", () => show(client.request("https://127.0.0.1:1/stolen")));
  button("outside", () => show(client.get({ ...notes, api: "//127.0.0.1:1/stolen", name: "x" })));
  button("session", () => show(Promise.resolve(document.cookie + "|")));
  button("announce", () => context.announce("the panel has spoken"));
  button("go to the view", () => context.navigate({ virtualWorkspace: "notes" }));
  button("go", () => context.navigate({ resource: notes }));
  element.append(elements.facts({ Name: "value", Left: undefined }), elements.badge("fine", "good"),
    elements.url(context.url("services/notes"), "notes"), elements.link("to the table", { resource: notes }));
  const color = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  line("color").textContent = color === "" ? "no color" : "a color";
  globalThis.ended = [];
  signal.addEventListener("abort", () => globalThis.ended.push("aborted"));
  return () => globalThis.ended.push("unmounted " + signal.aborted);
}
`;

const LATER = `
export default function (element, { client, object }) {
  const button = (text, onclick) =>
    element.append(Object.assign(document.createElement("button"), { textContent: text, onclick }));
  button("throw", () => { throw new Error("thrown by a handler"); });
  button("reject", () => { client.get({ group: "test.dev", version: "v1", resource: "notes", name: "missing" }); });
  button("listen", () => object.subscribe(() => { throw new Error("thrown by a listener"); }));
  button("timer", () => setTimeout(() => { throw new Error("thrown by a timer"); }));
}
`;

/** Files of the fixtures, by name. \`other\` is the URL of another server. */
export const panelFixtures = (other: string): Readonly<Record<string, string>> => ({
  "contract.js": CONTRACT,
  "later.js": LATER,
  "throws.js": 'export function mount() { throw new Error("thrown at once"); }\n',
  "empty.js": "export const nothing = 1;\n",
  "broken.js": "export function mount( {\n",
  "unlisted.js": 'import "./chart.js"; export function mount() {}\n',
  "foreign.js": `export async function mount() { await import("${other}/module.js"); }\n`,
  "inline.js": `export function mount(element) {
  element.innerHTML = '<img src="x" onerror="globalThis.broken = true"><p style="color: red">inline</p>';
  document.head.append(Object.assign(document.createElement("script"), { textContent: "globalThis.broken = true" }));
}
`,
});
