// Panels of virtual workspaces: what is rejected when a view or a server is made, and what the pages of a server get.
import { pathToFileURL } from "node:url";
import { authenticated, createServer, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import type { Panel } from "@virtual-workspaces/framework/panel";
import type { PageRequest } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { Note } from "../_support/note.ts";

const HERE = new URL("panels.test.ts", import.meta.url);
const PANEL: Panel = { name: "notes", title: "Notes", module: HERE };

const viewWith = (panels: readonly unknown[], name = "notes") =>
  defineVirtualWorkspace({
    ...{ name, path: "/clusters/:cluster", authorize: authenticated() },
    resources: [Note.serve(Note.collection())],
    panels: panels as readonly Panel[],
  });

const serverWith = (
  virtualWorkspaces: Parameters<typeof createServer>[0]["virtualWorkspaces"],
  panels: readonly Panel[] = [],
) =>
  createServer({
    virtualWorkspaces,
    authentication: [],
    tls: false,
    pages: { path: "/pages", panels, answer: ({ res }) => void res.end() },
  });

describe("panels", () => {
  for (const [what, panel, message] of [
    ["a name of other characters", { name: "My Panel" }, /invalid name "My Panel".*lower-case/],
    ["a name that leads elsewhere", { name: "../session" }, /invalid name/],
    ["no title", { title: " " }, /invalid title of panel "notes".*write what the tab says/],
    ["a module of another origin", { module: new URL("https://evil.test/panel.js") }, /invalid module.*use a file/],
    ["a module of data", { module: new URL("data:text/javascript,1") }, /invalid module.*use a file/],
    ["a path in place of a URL", { module: "/etc/passwd" }, /invalid module.*use a file/],
    ["a module that is none", { module: new URL("file:///etc/passwd") }, /invalid module.*ES module/],
    ["a file outside of its folder", { files: ["../secret.js"] }, /invalid files.*"..\/secret.js".*below the folder/],
    ["a file by its path", { files: ["/etc/passwd"] }, /invalid files.*below the folder/],
    ["a hidden file", { files: ["parts/.env"] }, /invalid files.*below the folder/],
    ["half a subject", { for: { group: "test.dev" } }, /invalid for.*set group and resource, or virtualWorkspace/],
    ["the name of the core group", { for: { group: "core", resource: "pods" } }, /invalid for.*the core group is ""/],
    ["an unknown member", { file: ["chart.js"] }, /unknown member "file" of panel "notes".*use name, .*files, tree/],
    ["a path of another server", { path: "https://evil.test/" }, /invalid path.*use a path of a server/],
    ["a tree without a resource", { tree: { version: "v1" } }, /invalid tree.*set group and resource/],
    [
      "a tree whose phase is no path",
      { for: { group: "test.dev", resource: "notes" }, tree: { version: "v1", phase: "status" } },
      /invalid tree.*path of a field/,
    ],
  ] as const)
    it(`reject ${what}, with the name of the field and the remedy`, () => {
      expect(() => viewWith([{ ...PANEL, ...panel }])).to.throw(message);
    });

  it("reject a file that does not exist, when a server with pages is made", () => {
    const missing = viewWith([{ ...PANEL, files: ["missing.js"] }]);
    expect(() => serverWith([missing])).to.throw(
      /invalid files of panel "notes": there is no file .*missing\.js: correct/,
    );
    expect(() => createServer({ virtualWorkspaces: [missing], authentication: [], tls: false })).to.not.throw();
  });

  it("reject a name that two of them have, also of two views", () => {
    expect(() => serverWith([viewWith([PANEL]), viewWith([PANEL], "others")])).to.throw(
      /duplicate name "notes" of panels/,
    );
    const own = { ...PANEL, for: { virtualWorkspace: "elsewhere" } };
    expect(() => serverWith([viewWith([PANEL])], [own])).to.throw(/duplicate name/);
    expect(() => serverWith([], [PANEL])).to.throw(/has no subject: set for/);
  });

  it("reach the pages with the view that has them, and its path", async () => {
    using folder = tree({ "panel.js": "export const mount = () => {};" });
    const module = pathToFileURL(`${folder.path}/panel.js`);
    const about = { group: "test.dev", resource: "notes" };
    const seen: PageRequest["panels"][] = [];
    const server = createServer({
      virtualWorkspaces: [viewWith([PANEL, { ...PANEL, name: "note", for: about, module }])],
      authentication: [],
      tls: false,
      pages: {
        path: "/pages",
        answer: ({ res, panels }) => {
          seen.push(panels);
          res.end();
        },
      },
    });
    const { url } = await server.listen({ port: 0 });
    for (let count = 0; count < 2; count += 1) await (await fetch(`${url}/pages`)).text();
    await server.close();
    const path = "/services/notes/clusters/{cluster}";
    expect(seen[0]).to.deep.equal([
      { ...PANEL, for: { virtualWorkspace: "notes" }, path },
      { ...PANEL, name: "note", for: about, module },
    ]);
    expect(seen[0], "the same list").to.equal(seen[1]);
  });
});
