// `start --feature`: a feature of a module, with its flags, beside those of the command.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { until } from "../_support/until.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { cli } from "./support/dev.ts";
import { Start } from "./support/start.ts";

const ANNOUNCEMENTS = join(root, "examples/features/announcements.ts");
const ANYWHERE = ["--bind-address=127.0.0.1", "--secure-port=0", "--experimental-bind-free-port"];

/** Returns a module with a feature, whose other members are given as text. */
const feature = (name: string, rest = "read: () => ({})"): string => `export default { name: "${name}", ${rest} };`;
const flag = (name: string): string => `flags: { "${name}": { type: "number", help: "A number." } }, read: () => ({})`;
/** Prints when the feature begins and ends. */
const telling = (name: string): string =>
  feature(
    name,
    `read: () => ({ run: () => { console.error("${name} begins"); return { [Symbol.asyncDispose]: async () => console.error("${name} ends") }; } })`,
  );

const FILES = {
  "nothing.ts": "export const feature = 1;",
  "broken.ts": "export default {",
  "view.ts": 'export default { name: "view", path: "/", authorize: () => ({ allowed: true }) };',
  "Name.ts": feature("My Feature"),
  "untyped.ts": feature("untyped", 'flags: { "untyped-size": { help: "A size." } }, read: () => ({})'),
  "board.ts": feature("board"),
  "other.ts": feature("board", "read: () => ({ listed: false })"),
  "mounts.ts": feature("mounts"),
  "demo.ts": feature("demo"),
  "taken.ts": feature("taken", flag("shards")),
  "elsewhere.ts": feature("elsewhere", flag("mount-allow")),
  "plain.ts": feature("plain", flag("size")),
  "viewing.ts": feature("view", flag("view")),
  "undisposed.ts": feature("undisposed", "read: () => ({ run: () => ({}) })"),
  "etcd.ts": feature("etcd", flag("etcd-compaction-interval")),
  "uses.ts": feature("uses", 'uses: { "board-size": "number" }, read: () => ({})'),
  "mistaken.ts": feature("mistaken", 'uses: { shards: "text" }, read: () => ({})'),
  "sized.ts": feature("sized", flag("sized-by")),
  "reads.ts": feature("reads", 'read: () => { throw new TypeError("not today"); }'),
  "views.ts": feature("views", 'read: () => ({ views: () => { throw new Error("no views"); } })'),
  "first.ts": telling("first"),
  "second.ts": telling("second"),
  "fails.ts": feature("fails", 'read: () => ({ run: async () => { throw new Error("not today"); } })'),
};

const REFUSED: readonly (readonly [string, number, RegExp])[] = [
  ["--feature=./gone.ts", 2, /--feature \.\/gone\.ts: the file does not exist in /],
  [
    "--feature=gone",
    2,
    /--feature gone: neither a file nor a package of this name exists in \S+: use a path, or install/,
  ],
  ["--feature=@acme/gone", 2, /--feature @acme\/gone: neither a file nor a package of this name exists in /],
  ["--feature", 2, /--feature needs a value/],
  [
    "--feature=nothing.ts",
    1,
    /--feature \S+nothing\.ts: its default export is not a feature\. Write `export default def/,
  ],
  ["--feature=broken.ts", 1, /--feature \S+broken\.ts cannot be loaded: .*SyntaxError/s],
  ["--feature=view.ts", 1, /view\.ts: its default export is not a feature: view has no function read/],
  ["--feature=Name.ts", 1, /its name must be a DNS label/],
  ["--feature=untyped.ts", 1, /the flag untyped-size of untyped needs a type, one of text, path, number/],
  [
    "--feature=board.ts,other.ts",
    1,
    /--feature \S+other\.ts: the name board is already used by --feature \S+board\.ts/,
  ],
  ["--feature=mounts.ts", 1, /--feature \S+mounts\.ts: the name mounts is already used by the feature mounts/],
  ["--feature=demo.ts", 1, /--feature \S+demo\.ts: the name demo is already used by a battery/],
  [
    "--feature=taken.ts",
    1,
    /taken\.ts: the flag --shards already belongs to virtual-workspaces start: rename it to --taken-sh/,
  ],
  [
    "--feature=elsewhere.ts",
    1,
    /--mount-allow already belongs to the feature workspace-mounts: rename it to --elsewhere-mount-allow/,
  ],
  ["--feature=plain.ts", 1, /the flag --size does not begin with the name of the feature: rename it to --plain-size/],
  [
    "--feature=viewing.ts",
    1,
    /--feature \S+viewing\.ts: the flag --view already belongs to the feature view-files: rename it/,
  ],
  ["--feature=undisposed.ts", 1, /undisposed\.ts: Error: invalid result of run\(\): return an Async/],
  ["--feature=etcd.ts", 1, /etcd\.ts: kcp has a flag --etcd-compaction-interval: use another name than et/],
  [
    "--feature=uses.ts",
    1,
    /uses\.ts uses the flag --board-size, which does not exist: add the feature that defines it/,
  ],
  ["--feature=mistaken.ts", 1, /mistaken\.ts uses the flag --shards as text, but its type is number/],
  ["--feature=sized.ts --sized-bi=3", 2, /--sized-bi is not a flag of the feature sized, which has --sized-by/],
  ["--feature=sized.ts --size-by=3", 2, /unknown flag --size-by: did you mean --sized-by\?/],
  ["--feature=sized.ts --sized-by=many", 2, /invalid value "many" for --sized-by: use a number/],
  ["--feature=reads.ts", 1, /--feature \S+reads\.ts failed to read its flags: TypeError: not today\n.*reads\.ts:1/s],
  ["--feature=views.ts", 1, /--feature \S+views\.ts: Error: no views\n.*views\.ts:1/s],
  [`--feature=${ANNOUNCEMENTS} --announcements-keep=3ms`, 2, /start: --announcements-keep: give 1s or more/],
];

const announcement = (name: string, spec: object): object => ({
  ...{ apiVersion: "example.dev/v1", kind: "Announcement" },
  ...{ metadata: { name }, spec },
});

describe("virtual-workspaces start --feature", function () {
  this.timeout(60_000);

  describe("examples/features/announcements.ts", () => {
    before(needsKubectl);

    it("adds a kind, a view that all may read and a controller, and ends with the server", async () => {
      await using server = await Start.ready({
        flags: [`--feature=${ANNOUNCEMENTS}`, "--announcements-keep=1h", "--shards=2"],
        files: { "tokens.csv": "alice-token,alice,1\n" },
      });
      expect(server.lines.join("\n")).to.include(`${server.url}/services/announcements/`);
      const create = (object: object): Promise<string> => {
        const file = join(server.folder.path, "object.json");
        writeFileSync(file, JSON.stringify(object));
        return server.kubectl("create", "-f", file);
      };
      expect(await create(announcement("lunch", { text: "There is soup." }))).to.match(/^0 .*lunch created/);
      expect(await create(announcement("silent", {}))).to.match(/^1 .*spec\.text: Required value/s);
      expect(await create(announcement("over", { text: "Gone.", until: "2020-01-01T00:00:00Z" }))).to.match(/^0 /);
      const kubeconfig = join(server.folder.path, "plain.kubeconfig");
      const asAlice = async (at: string, ...args: readonly string[]): Promise<string> => {
        const ca = server.path("apiserver.crt");
        const cluster = { server: at, "certificate-authority": ca };
        const config = {
          ...{ apiVersion: "v1", kind: "Config", "current-context": "a" },
          clusters: [{ name: "a", cluster }],
          contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
          users: [{ name: "a", user: { token: "alice-token" } }],
        };
        writeFileSync(kubeconfig, JSON.stringify(config));
        return server.kubectl(...args, "--kubeconfig", kubeconfig);
      };
      const view = `${server.url}/services/announcements`;
      await until(async () => !(await server.kubectl("get", "announcements", "-o", "name")).includes("/over"));
      expect(await asAlice(`${server.url}/clusters/root`, "get", "announcements")).to.match(/^1 .*Forbidden/s);
      const seen = () => asAlice(view, "get", "announcements", "-o", "name");
      const lunch = "0 announcement.example.dev/lunch";
      await until(async () => (await seen()) === lunch, { what: "the view without what is over" });
      expect(await asAlice(view, "get", "announcements")).to.match(/^0 NAME +TEXT +UNTIL .*\nlunch +There is soup\./);
      expect(await asAlice(view, "delete", "announcement", "lunch")).to.match(/^1 .*MethodNotAllowed/s);
      const shards = await server.kubectl("get", "shards", "shard-1", "-o", "jsonpath={.spec.baseURL}");
      expect(await asAlice(`${shards.slice(2)}/services/announcements`, "get", "announcements", "-o", "name")).to.equal(
        lunch,
      );
      expect(await server.end("SIGTERM")).to.equal(0);
    });
  });

  it("lists the flags of the module in the help, beside those of the command", async () => {
    const [without, withIt] = [await cli("start", "--help"), await cli("start", "--help", "--feature", ANNOUNCEMENTS)];
    expect(withIt).to.include({ code: 0, stderr: "" });
    expect(withIt.stdout).to.match(
      /^Feature announcements:\n {2}--announcements-keep <time> +How long .* \(default 24h\)$/m,
    );
    const lines = new Set(withIt.stdout.split("\n"));
    expect(without.stdout.split("\n").filter((line) => !lines.has(line))).to.deep.equal([]);
    expect(without.stdout).to.not.include("announcements");
  });

  it("accepts the name of a package, which it resolves from the working directory", async () => {
    using folder = tree({
      "node_modules/acme-board/package.json": '{ "type": "module", "exports": { "import": "./board.js" } }',
      "node_modules/acme-board/board.js": feature("board", flag("board-size")),
    });
    const program = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts")];
    const script = `cd ${folder.path} && exec "$@"`;
    const help = ["start", "--help", "--feature=acme-board"];
    const { ok, output } = await run("sh", ["-c", script, "sh", localNode, ...program, ...help]);
    expect(output).to.match(/^Feature board:\n {2}--board-size <number>/m);
    expect(ok).to.equal(true);
  });

  it("begins features in the order of the command line, and ends them in the reverse one", async () => {
    using folder = tree(FILES);
    const modules = ["first.ts", "second.ts"].map((name) => join(folder.path, name));
    await using server = await Start.ready({ flags: [`--feature=${modules.join(",")}`] });
    expect(await server.end("SIGTERM")).to.equal(0);
    const told = server.stderr.split("\n").filter((line) => /^(first|second) (begins|ends)$/.test(line));
    expect(told).to.deep.equal(["first begins", "second begins", "second ends", "first ends"]);
  });

  it("ends the begun features when one fails, prints one message with the module, and can start again", async () => {
    using folder = tree(FILES);
    const at = ["--root-directory", join(folder.path, "kcp"), ...ANYWHERE];
    const of = (...names: readonly string[]) => names.flatMap((name) => ["--feature", join(folder.path, name)]);
    const { code, stdout, stderr } = await cli("start", ...at, ...of("first.ts", "second.ts", "fails.ts"));
    expect(stderr).to.match(/first begins\nsecond begins\nsecond ends\nfirst ends\n/);
    expect(stderr)
      .to.match(/start: --feature \S+fails\.ts: Error: not today\n.*fails\.ts:1/s)
      .and.not.match(/node:internal|packages\/cli/);
    expect([code, stdout]).to.deep.equal([1, ""]);
    await using again = await Start.ready({ in: folder.path, flags: of("first.ts") });
    expect(await again.end("SIGTERM")).to.equal(0);
  });

  it("loads no plugin for the help, nor plugins of features that are off", async () => {
    using folder = tree({
      "loaded.mjs": `import module from "node:module";
        const load = (url, context, next) => {
          const [, name] = /packages\\/(plugins\\/[\\w-]+|front-proxy|workspace-server)\\/src\\/index/.exec(url) ?? [];
          if (name) console.error("loads " + name);
          return next(url, context);
        };
        module.registerHooks({ load });`,
    });
    const preload = join(folder.path, "loaded.mjs");
    const loaded = (text: string): readonly string[] => text.match(/(?<=^loads ).*/gm) ?? [];
    const help = [
      "--import",
      preload,
      "--conditions=@virtual-workspaces/source",
      join(root, "packages/cli/src/bin.ts"),
    ];
    const { ok, output } = await run(localNode, [...help, "start", "--help"]);
    expect([ok, loaded(output)]).to.deep.equal([true, []]);
    await using server = await Start.ready({ in: folder.path, preload });
    expect(loaded(server.stderr)).to.include("workspace-server");
    for (const off of ["plugins/spaces", "plugins/cluster-proxy", "front-proxy"])
      expect(loaded(server.stderr)).to.not.include(off);
    expect(await server.end("SIGTERM")).to.equal(0);
  });

  for (const [flags, expected, why] of REFUSED)
    it(`${flags.replace(root, "")}: ends with ${expected} and prints the reason`, async () => {
      using folder = tree(FILES);
      const files = flags.replaceAll(/(?<=[=,])(?=\w+\.ts)/g, `${folder.path}/`).split(" ");
      const { code, stderr } = await cli("start", "--root-directory", join(folder.path, "kcp"), ...ANYWHERE, ...files);
      expect(stderr)
        .to.match(why)
        .and.not.match(/node:internal|packages\/cli/);
      expect(code).to.equal(expected);
    });
});
