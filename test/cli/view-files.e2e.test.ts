// Errors of `start --view`, `serve` and `dev` about files that are not views, or that they cannot serve.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { createAuthority } from "../_support/server.ts";
import { cli } from "./support/dev.ts";
import { Serve } from "./support/views-of-workspaces.ts";

const view = (name: string, more = "authorize: () => ({ allowed: true }),"): string =>
  `export default { name: ${JSON.stringify(name)}, path: "/", ${more} handle: (req, res) => res.end() };`;

const FILES = {
  "throws.ts": 'throw new Error("not today");',
  "broken.ts": "export default {",
  "nothing.ts": "export const view = 1;",
  "open.ts": view("open", ""),
  "one.ts": view("one"),
  "other.ts": view("one"),
  "clusters.ts": view("clusters"),
  "placed.ts": view("placed", 'authorize: () => ({ allowed: true }), prefix: "/clusters",'),
  "asks.ts": 'export default ({ upstream }) => { if (upstream) throw new Error("no such place"); };',
};

/** Kubeconfig of a server that does not run. */
const NOWHERE = JSON.stringify({
  clusters: [{ name: "one", cluster: { server: "https://127.0.0.1:1" } }],
  contexts: [{ name: "one", context: { cluster: "one" } }],
  "current-context": "one",
});

const LOADED: readonly (readonly [readonly string[], RegExp])[] = [
  [["throws.ts"], /--view \S+throws\.ts cannot be loaded: Error: not today\n.*throws\.ts:1/s],
  [["broken.ts"], /--view \S+broken\.ts cannot be loaded: .*SyntaxError/s],
  [
    ["nothing.ts"],
    /--view \S+nothing\.ts: its default export is not a view\. Write `export default defineVirtualWorkspace/,
  ],
  [["open.ts"], /--view \S+open\.ts: .*not a view: it has no authorize, which decides about access/],
  [["one.ts", "other.ts"], /--view \S+other\.ts: the name one is already used by \S+one\.ts: use another name/],
  [["clusters.ts"], /--view \S+clusters\.ts: the name clusters is already used by the server itself/],
  [["placed.ts"], /--view \S+placed\.ts: the view placed has the prefix \/clusters.*remove the prefix/],
  [["asks.ts"], /--view \S+asks\.ts cannot be loaded: Error: no such place/],
];

const FLAGS: readonly (readonly [readonly string[], RegExp])[] = [
  [["start", "--view", "nowhere.ts"], /--view nowhere\.ts: the file does not exist in /],
  [
    ["start", "--view", "package.json", "--run-virtual-workspaces=false"],
    /--view does not work with --run-virtual-workspaces=false/,
  ],
  [
    [
      ...["start", "--run-virtual-workspaces=false", "--shard-virtual-workspace-url=https://a"],
      "--shard-client-cert-file=package.json",
    ],
    /must be set together, and --shard-virtual-workspace-ca-file, --shard-client-key-file is missing/,
  ],
  [
    [
      ...["start", "--run-virtual-workspaces=false", "--shard-virtual-workspace-ca-file=package.json", "--shards=2"],
      ...["--shard-client-cert-file=package.json", "--shard-client-key-file=package.json"],
      "--shard-virtual-workspace-url=https://a",
    ],
    /invalid value for --shard-virtual-workspace-url: it is the URL of one shard, and there are several: put \{shard\} into its host/,
  ],
  [["serve"], /--kubeconfig is required/],
  [["serve", "--view", "package.json"], /--kubeconfig is required/],
  [["serve", "--view", "package.json", "--kubeconfig", "package.json"], /--tls-cert-file and --tls-private-key-file/],
  [["serve", "view.ts"], /name files of views with --view/],
];

describe("files of views", function () {
  this.timeout(60_000);

  for (const [names, why] of LOADED)
    it(`${names.join(" and ")}: one message that names the file and the remedy`, async () => {
      using folder = tree(FILES);
      const views = names.flatMap((name) => ["--view", join(folder.path, name)]);
      const at = ["--bind-address=127.0.0.1", "--secure-port=0", "--experimental-bind-free-port"];
      const { code, stderr } = await cli("start", "--root-directory", join(folder.path, "kcp"), ...at, ...views);
      expect(stderr)
        .to.match(why)
        .and.not.match(/node:internal|packages\/cli/);
      expect(code).to.equal(1);
    });

  for (const [args, why] of FLAGS)
    it(`${args.join(" ")}: reports the problem`, async () => {
      const { code, stderr } = await cli(...args);
      expect(stderr).to.match(why);
      expect(code).to.equal(2);
    });

  it("make serve warn that --data-dir has no effect when none of them uses the store", async () => {
    const { server } = createAuthority();
    using folder = tree({ ...FILES, kubeconfig: NOWHERE, "tls.crt": server.cert, "tls.key": server.key });
    const files = ["--kubeconfig=kubeconfig", "--tls-cert-file=tls.crt", "--tls-private-key-file=tls.key"];
    const at = ["--bind-address=127.0.0.1", "--secure-port=0"];
    const args = ["serve", "--view=one.ts", "--data-dir=data", ...files, ...at];
    await using serve = await Serve.ready(args, folder.path);
    const warning =
      "--data-dir has no effect: no view keeps objects in the server's store. A collection() without a store is always in memory.";
    await serve.until("the warning", () => serve.stderr.includes(warning));
    expect(existsSync(join(folder.path, "data"))).to.equal(false);
  });

  it("over workspaces are rejected by dev, with commands that support them", async () => {
    using folder = tree({});
    const example = join(root, "examples/over-workspaces/published.ts");
    const { code, stderr } = await cli("dev", example, "--dir", join(folder.path, "state"), "--port", "0");
    expect(stderr).to.match(/this view needs workspaces, and dev has none: use virtual-workspaces start --view/);
    expect(code).to.equal(1);
  });
});
