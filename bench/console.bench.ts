// The console in Chromium: what a browser loads, how long until the tree of workspaces, and until a change is seen
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { WebSocket } from "ws";
import { parse } from "yaml";
import { type ConsoleTab, openTab, startBrowser } from "../test/plugins/console/support/console-tab.ts";
import { ensureConsole } from "../tools/console.mjs";
import { ensureInstalled, root } from "../tools/install.mjs";
import { type Figure, figure, report } from "./_harness/report.ts";
import { median } from "./_harness/statistics.ts";

const isShort = process.argv.includes("--short");
const [VISITS, CHANGES] = isShort ? [1, 3] : [7, 30];
const CONFIG_MAPS = "api/v1/namespaces/default/configmaps";

/** Resolves when the tree shows its first workspace. */
const VISITED = `new Promise((resolve) => {
  const done = () => {
    if (document.querySelector("[role=treeitem]") === null) return requestAnimationFrame(done);
    const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    const files = entries.filter(({ name }) => /console\\/(assets\\/.*)?$/.test(new URL(name).pathname));
    resolve({
      ms: performance.now(),
      bytes: files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      requests: entries.length,
    });
  };
  done();
})`;

await ensureInstalled(join(root, "tools/docs"));
const { ok, output } = await ensureConsole();
assert.ok(ok, output);
const browser = await startBrowser(); // says why there is none
report("console", browser === undefined ? [] : await measure(browser));

async function measure(browser: NonNullable<Awaited<ReturnType<typeof startBrowser>>>): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "virtual-workspaces-bench-"));
  const server = spawn(
    process.execPath,
    [
      ...["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts"), "start"],
      ...["--root-directory", folder, "--bind-address=127.0.0.1", "--secure-port=0", "--experimental-bind-free-port"],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    const url = await readyAt(server.stdout);
    const ca = readFileSync(join(folder, "apiserver.crt"), "utf8");
    const { users } = parse(readFileSync(join(folder, "admin.kubeconfig"), "utf8")) as {
      readonly users: readonly { readonly name: string; readonly user: { readonly token: string } }[];
    };
    const token = users.find(({ name }) => name === "kcp-admin")?.user.token ?? "";
    const agent = new Agent({ ca, keepAlive: true });
    const { code } = (await post(`${url}/console/codes`, {})) as { readonly code: string };
    const { tab } = await openTab(browser, `${url}/console/#code=${code}`);
    await tab.locator("role=treeitem[name=/^root/]").waitFor();

    const visits: Visit[] = [];
    for (let visit = 0; visit < VISITS; visit++) {
      await tab.goto("about:blank");
      await tab.goto(`${url}/console/`);
      visits.push(await tab.evaluate<Visit>(VISITED));
    }
    const late = await changes(tab);
    await browser.close();
    agent.destroy();
    return [
      figure({ what: "first page, compressed", value: loaded() / 1024, unit: "KiB", atMost: 350 }),
      figure({
        what: "from the address to the tree of workspaces",
        value: median(visits.map(({ ms }) => ms)),
        unit: "ms",
        atMost: 1000,
      }),
      figure({ what: "requests until then", value: median(visits.map(({ requests }) => requests)), unit: "count" }),
      figure({
        what: "from a create to its row in a table",
        value: median(late.map(({ row }) => row)),
        unit: "ms",
        atMost: 500,
      }),
      figure({
        what: "the same",
        value: median(late.map(({ row }) => row)) / median(late.map(({ event }) => event)),
        unit: "ratio",
        rival: "its event at a bare WebSocket",
      }),
    ];

    async function post(target: string, body: object): Promise<unknown> {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const req = request(target, { method: "POST", agent, headers }).end(JSON.stringify(body));
      const [res] = (await once(req, "response")) as [import("node:http").IncomingMessage];
      let text = "";
      for await (const piece of res.setEncoding("utf8")) text += piece;
      assert.ok((res.statusCode ?? 500) < 300, text);
      return JSON.parse(text);
    }

    /** Creates ConfigMaps, each when its predecessor is shown. @returns ms until the row, and until the event, of each */
    async function changes(page: ConsoleTab): Promise<readonly { readonly row: number; readonly event: number }[]> {
      await page.goto(`${url}/console/#/workspaces/root/core/v1/configmaps`);
      await page.locator('role=rowheader[name="kube-root-ca.crt"]').first().waitFor();
      const path = `${url.replace("https", "wss")}/clusters/root/${CONFIG_MAPS}?watch=true`;
      const socket = new WebSocket(path, { ca, headers: { authorization: `Bearer ${token}` } });
      await once(socket, "open");
      const found: { readonly row: number; readonly event: number }[] = [];
      for (let change = 0; change < CHANGES; change++) {
        const name = `change-${change}`;
        const event = new Promise<number>((resolve) => {
          const listen = (data: unknown): void => {
            if (!String(data).includes(`"${name}"`)) return;
            socket.off("message", listen);
            resolve(Date.now());
          };
          socket.on("message", listen);
        });
        const row = page.evaluate<number>(`new Promise((resolve) => {
          const shows = () => [...document.querySelectorAll("th[scope=row]")].some((cell) => cell.textContent === ${JSON.stringify(name)});
          const observer = new MutationObserver(() => {
            if (!shows()) return;
            observer.disconnect();
            resolve(Date.now());
          });
          observer.observe(document.body, { childList: true, subtree: true, characterData: true });
        })`);
        const began = Date.now();
        await post(`${url}/clusters/root/${CONFIG_MAPS}`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
        found.push({ row: (await row) - began, event: Math.max(1, (await event) - began) });
      }
      socket.terminate();
      return found;
    }

    function loaded(): number {
      return median(visits.map(({ bytes }) => bytes));
    }
  } finally {
    server.kill("SIGTERM");
    if (server.exitCode === null) await once(server, "close");
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Visit {
  readonly ms: number;
  readonly bytes: number;
  readonly requests: number;
}

async function readyAt(output: Readable): Promise<string> {
  for await (const line of createInterface(output)) {
    const [, url] = / at (https:\S+)\/clusters\/root$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the server ended before it was ready");
}
