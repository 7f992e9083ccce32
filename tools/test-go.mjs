// Why: real clients decide what is correct, and they are Go programs: each folder of test/go is a module of its own, since
// one module would force one Kubernetes version on all. `test-go.mjs [module] [go test options]`.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "./install.mjs";

const home = join(root, "test/go");
const modules = existsSync(home) ? readdirSync(home).filter((name) => existsSync(join(home, name, "go.mod"))) : [];
const [first, ...rest] = process.argv.slice(2);
const one = first !== undefined && modules.includes(first);
const options = one ? rest : process.argv.slice(2);
const env = { ...process.env, NODE: process.execPath, REPOSITORY: root };

if (spawnSync("go", ["version"]).status !== 0) {
  console.error("Go is not on the PATH: install Go 1.26 or newer (https://go.dev/doc/install), then run this again.");
  process.exit(1);
}

/** @typedef {{ Action: string, Package: string, Test?: string, Output?: string, Elapsed?: number }} Event */

/** Runs the tests of one module; prints a line per test, and what a failed one wrote. @param {string} module */
async function test(module) {
  const cwd = join(home, module);
  const go = spawn("go", ["test", "-json", "-count=1", ...options, "./..."], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  /** @type {Map<string, string[]>} */
  const outputs = new Map();
  const counts = { passed: 0, failed: 0 };
  for await (const line of createInterface(go.stdout)) {
    if (!line.startsWith("{")) {
      console.log(line);
      continue;
    }
    /** @type {Event} */
    const { Action, Package, Test, Output, Elapsed } = JSON.parse(line);
    if (Action === "build-output") process.stdout.write(Output ?? "");
    const key = `${Package} ${Test ?? ""}`;
    if (Output !== undefined) outputs.set(key, [...(outputs.get(key) ?? []), Output]);
    if (Action === "fail" || (Action === "pass" && Test !== undefined)) {
      if (Test !== undefined) counts[Action === "pass" ? "passed" : "failed"]++;
      console.log(`${Action === "pass" ? "ok  " : "FAIL"} ${module} ${Test ?? Package} (${Elapsed ?? 0} s)`);
      if (Action === "fail") console.log(outputs.get(key)?.join("") ?? "");
    }
    if (Action === "skip" && Test !== undefined)
      console.log(`skip ${module} ${Test}\n${outputs.get(key)?.join("") ?? ""}`);
    if (Action !== "output") outputs.delete(key);
  }
  const code = go.exitCode ?? (await new Promise((resolve) => go.once("exit", resolve)));
  if (code !== 0 && counts.failed === 0) counts.failed = 1; // it does not compile, or died
  return counts;
}

const total = { passed: 0, failed: 0 };
for (const module of one ? [first] : modules) {
  const unformatted = spawnSync("gofmt", ["-l", "."], { cwd: join(home, module), encoding: "utf8" }).stdout.trim();
  if (unformatted !== "") console.log(`FAIL ${module} not formatted: ${unformatted.replaceAll("\n", ", ")}`);
  const { passed, failed } = await test(module);
  total.passed += passed;
  total.failed += failed + (unformatted === "" ? 0 : 1);
}
console.log(`test:go: ${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
