// `kubectl ws tree -i` in a terminal: its screen, and the current workspace afterwards.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual, promisify } from "node:util";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { Admin } from "../../workspace-server/faults/support/admin.ts";
import * as make from "../../workspace-server/faults/support/tree.ts";
import { HAS_PTY, Pty, type PtyOptions } from "../support/pty.ts";
import { Start } from "../support/start.ts";

const { paths, within } = make;
/** Mounted on an object of an unknown kind, so it is not ready. */
const MOUNTED = { mount: { ref: { apiVersion: "v1", kind: "ConfigMap", name: "none", namespace: "default" } } };
const HELP = "Enter: switch to it";
/** Keys as a terminal sends them. */
const KEYS = {
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  enter: "\r",
  escape: "\x1b",
  stop: "\x03",
};

describe("kubectl ws tree -i", function () {
  this.timeout(60_000);
  let server: Start;

  before(async function () {
    if (!HAS_PTY) this.skip();
    server = await Start.ready({ flags: [] });
    using admin = new Admin(server);
    const add = async (at: string, name: string): Promise<void> => {
      await admin.ok("POST", within(at, paths.WORKSPACES), make.workspace(name));
      await admin.until(within(at, `${paths.WORKSPACES}/${name}`), ({ body }) => body.status?.phase === "Ready");
    };
    for (const name of ["a", "b", "c"]) await add("root", name);
    await add("root:b", "one");
    await add("root:b:one", "deep");
    const mounted = { ...make.workspace("mounted"), spec: MOUNTED };
    await admin.ok("POST", within("root:b", paths.WORKSPACES), mounted);
    await promisify(execFile)(server.path("bin/kubectl-ws"), ["use", ":root"], { env: env() });
  });
  after(() => server?.[Symbol.asyncDispose]());

  const env = (): NodeJS.ProcessEnv => ({
    ...process.env,
    KUBECONFIG: server.home.kubeconfig,
    NO_COLOR: undefined,
    CI: undefined,
  });
  const start = (args = "", options: Partial<PtyOptions> = {}): Pty =>
    new Pty({
      command: `sh -c 'echo pid $$; exec "$0" "$@"' ${server.path("bin/kubectl-ws")} tree -i ${args}`,
      env: env(),
      ...options,
    });
  const kubeconfig = (): string => readFileSync(server.home.kubeconfig, "utf8");
  const isAt = async (path: string): Promise<void> => {
    const { stdout } = await promisify(execFile)(server.path("bin/kubectl-ws"), [".", "--short"], { env: env() });
    expect(stdout.trim()).to.equal(path);
  };
  /** Returns the lines of the tree. */
  const treeOf = (screen: string): readonly string[] => {
    const lines = screen.split("\n");
    return lines.slice(
      2,
      lines.findIndex((line) => line.startsWith("───")),
    );
  };

  /** Resolves when the screen shows this tree, which is drawn line by line. */
  const shows = (pty: Pty, ...lines: readonly string[]): Promise<string> =>
    pty.shows((screen) => screen.includes(HELP) && isDeepStrictEqual(treeOf(screen), lines));

  it("opens and closes workspaces, shows their APIs, and enters one with Enter", async () => {
    await using pty = start();
    await shows(pty, "→ ▼ root", "    ▶ a", "    ▶ b", "    ▶ c");
    expect(pty.isOther).to.equal(true);
    await pty.shows("APIExports (5):");
    await pty.shows("• tenancy.kcp.io → root:tenancy.kcp.io (1 endpoint)");
    pty.type(`${KEYS.down}j`);
    await pty.shows("→   ▶ b");
    // A frame may arrive in parts.
    await pty.shows(/^root:b {2}Ready {2}cluster:\w+$/m);
    pty.type("l");
    await shows(pty, "  ▼ root", "    ▶ a", "→   ▼ b", "        mounted [m]", "      ▶ one", "    ▶ c");
    pty.type(`${KEYS.down}${KEYS.down}${KEYS.right}`);
    await pty.shows("→     ▼ one");
    pty.type(KEYS.right);
    await pty.shows("        ▶ deep");
    pty.type("jl");
    await pty.shows("→         deep");
    pty.type("kkkh");
    await shows(pty, "  ▼ root", "    ▶ a", "→   ▶ b", "    ▶ c");
    pty.type(" ");
    // Its children stay open.
    const [one, deep] = ["      ▼ one", "          deep"];
    await shows(pty, "  ▼ root", "    ▶ a", "→   ▼ b", "        mounted [m]", one, deep, "    ▶ c");
    pty.type("jj");
    await pty.shows("→     ▼ one");
    pty.type(KEYS.enter);
    expect(await pty.ended()).to.equal(0);
    expect(pty.isOther).to.equal(false);
    expect(pty.screen).to.include("Current workspace is 'root:b:one' (type root:universal).");
    await isAt("root:b:one");
    await promisify(execFile)(server.path("bin/kubectl-ws"), ["use", ":root"], { env: env() });
  });

  it("shows a mount that is not ready with the reason, and continues", async () => {
    await using pty = start("-w b");
    await shows(pty, "→ ▼ b", "      mounted [m]", "    ▶ one");
    pty.type("j");
    await pty.shows(/^root:b:mounted .* mounted on ConfigMap\/none$/m);
    pty.type("l");
    await pty.shows(/mounted \[m\] {2}cannot be listed: \S/);
    pty.type("jl");
    await pty.shows("deep");
    pty.type("q");
    expect(await pty.ended()).to.equal(0);
  });

  for (const key of ["q", KEYS.escape, KEYS.stop])
    it(`ends with ${JSON.stringify(key)}, changes nothing, and restores the terminal`, async () => {
      const before = kubeconfig();
      await using pty = start("-f");
      await shows(pty, "→ ▼ root", "    ▶ root:a", "    ▶ root:b", "    ▶ root:c");
      pty.type(`${KEYS.down}${key}`);
      expect(await pty.ended()).to.equal(0);
      expect(pty.isOther).to.equal(false);
      expect(pty.raw).to.include("\x1b[?25h").and.to.include("\x1b[?7h");
      expect(kubeconfig()).to.equal(before);
      expect(pty.screen).not.to.include("Current workspace");
    });

  const pidOf = ({ raw }: Pty): number => Number(/^pid (\d+)/m.exec(raw)?.[1]);

  it("restores the terminal when a signal ends it", async () => {
    await using pty = start();
    await pty.shows(HELP);
    process.kill(pidOf(pty), "SIGTERM");
    expect(await pty.ended()).to.equal(143);
    expect(pty.isOther).to.equal(false);
    expect(pty.raw).to.include("\x1b[?25h");
  });

  it("restores the terminal while it is stopped, and draws it again afterwards", async () => {
    await using pty = start();
    await pty.shows(HELP);
    pty.type("j\x1a");
    await pty.shows(() => !pty.isOther);
    // It restores the terminal first. A signal before the stop would stop it for good.
    await until(() => /\) T /.test(readFileSync(`/proc/${pidOf(pty)}/stat`, "utf8")));
    process.kill(pidOf(pty), "SIGCONT");
    await pty.shows(() => pty.isOther);
    await shows(pty, "  ▼ root", "→   ▶ a", "    ▶ b", "    ▶ c");
    pty.type("q");
    expect(await pty.ended()).to.equal(0);
  });

  it("redraws after a resize, with dots for lines that do not fit", async () => {
    await using pty = start("", { rows: 30 });
    await pty.shows("APIBindings (3):");
    await pty.resize(12, 60);
    const screen = await pty.shows((now) => {
      const lines = now.split("\n");
      return lines[0] === "kcp Workspaces" && lines[11]?.endsWith("q: quit") === true;
    });
    expect(screen).to.include("  ...");
    expect(treeOf(screen)[0]).to.equal("→ ▼ root");
    pty.type("q");
    expect(await pty.ended()).to.equal(0);
  });

  it("uses colors, unless NO_COLOR is set", async () => {
    const shown: string[] = [];
    for (const none of [undefined, "1"]) {
      await using pty = start("", { env: { ...env(), NO_COLOR: none } });
      await pty.shows(HELP);
      shown.push(pty.raw);
      pty.type("q");
      await pty.ended();
    }
    const [coloured = "", plain = ""] = shown;
    expect(coloured).to.include("\x1b[1mkcp Workspaces");
    expect(plain).to.include("kcp Workspaces").and.not.to.include("\x1b[1m");
  });

  it("needs a terminal that is large enough, and a workspace that it can list", async () => {
    const piped = promisify(execFile)(server.path("bin/kubectl-ws"), ["tree", "-i"], { env: env() });
    const { code, stderr } = await piped.then(
      () => expect.fail("it ran"),
      (error: { code: number; stderr: string }) => error,
    );
    expect([code, stderr]).to.deep.equal([
      1,
      "Error: --interactive needs a terminal for input and output: remove it in scripts and pipes\n",
    ]);
    const cases = [
      ["", 8, 1, "Error: --interactive needs a terminal of at least 10 lines, and this one has 8: remove it"],
      ["-w nope", 24, 1, "Error: "],
      ["--wide", 24, 2, "Error: --wide does not work with --interactive"],
    ] as const;
    for (const [args, rows, expected, said] of cases) {
      await using pty = start(args, { rows });
      expect(await pty.ended(), args).to.equal(expected);
      expect(pty.screen).to.include(said);
      expect(pty.raw).not.to.include("\x1b[?1049h");
    }
  });
});
