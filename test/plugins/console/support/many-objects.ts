// A server whose workspace has many ConfigMaps, and the longest time between two frames of a page.
import { lmdbStore, type Operation } from "@virtual-workspaces/store";
import { expect } from "chai";
import { Start } from "../../../cli/support/start.ts";
import type { ConsoleTab } from "./console-tab.ts";

export const MANY = Number(process.env["MANY"] ?? "100000");
/** Operations of a commit, and commits at the same time. */
const [OPERATIONS, AT_ONCE] = [100, 16];

export const nameOf = (n: number): string => `many-${String(n).padStart(6, "0")}`;
export const seen = (tab: ConsoleTab, selector: string): Promise<void> => tab.locator(selector).first().waitFor();

/** Returns the folder of a server that has stopped, with `MANY` ConfigMaps in the workspace `root`. */
export async function manyObjects(): Promise<string> {
  const first = await Start.ready();
  expect(await first.kubectl("create", "configmap", nameOf(0), "--from-literal=n=000")).to.match(/^0 /);
  expect(await first.end("SIGTERM")).to.equal(0);
  await fill(first.path("data"));
  return first.folder.path;
}

/** Copies the ConfigMap that a server has stored, which takes seconds in place of many minutes of requests. */
async function fill(dir: string): Promise<void> {
  await using store = await lmdbStore({ dir });
  const { entries } = await store.range({ from: "", to: "\u{10FFFF}" });
  const sample = entries.find(({ key }) => key.endsWith(`/${nameOf(0)}`));
  if (sample === undefined) throw new Error("the store has no ConfigMap to copy");
  const text = sample.value.toString("latin1");
  const [, uid = ""] = /"uid":"([0-9a-f-]{36})"/.exec(text) ?? [];
  const copy = (n: number): Operation => {
    const own = text.replaceAll(nameOf(0), nameOf(n)).replaceAll('"000"', `"${nameOf(n).slice(-3)}"`);
    const value = Buffer.from(own.replace(uid, n.toString(16).padStart(8, "0") + uid.slice(8)), "latin1");
    return { type: "put", key: sample.key.replace(nameOf(0), nameOf(n)), value };
  };
  for (let at = 1; at < MANY; ) {
    const commits: Promise<unknown>[] = [];
    for (; commits.length < AT_ONCE && at < MANY; at += OPERATIONS) {
      const count = Math.min(OPERATIONS, MANY - at);
      commits.push(store.commit({ conditions: [], operations: Array.from({ length: count }, (_, i) => copy(at + i)) }));
    }
    await Promise.all(commits);
  }
  // As if it was filled long ago: a server that starts reads what its history has again, as changes.
  await store.compact(await store.head());
}

/** Measures the longest time between two frames of the page until it is read. */
export const WATCH_FRAMES = `(() => {
  let last = performance.now();
  window.longestFrame = 0;
  const frame = (now) => {
    window.longestFrame = Math.max(window.longestFrame, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()`;
export const LONGEST = "(() => { const longest = window.longestFrame; window.longestFrame = 0; return longest; })()";
