#!/usr/bin/env node
// Why: playwright-core drives Firefox by WebDriver BiDi, with commands that the extended support release does not have yet. It
// starts this program as if it were Firefox, and gets a success for the commands that its tests can do without. Its scripts call
// eval, which the content security policy of a page forbids in Firefox, so this program puts their texts into functions.
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { WebSocket, WebSocketServer } from "ws";

/** Results of commands that Firefox 140 does not know, by name. */
const WITHOUT: Readonly<Record<string, object>> = {
  "browser.setDownloadBehavior": {},
  "emulation.setMediaFeaturesOverride": {},
  "emulation.setScreenOrientationOverride": {},
  "emulation.setScreenSettingsOverride": {},
  "network.addDataCollector": { collector: "none" },
};

interface Command {
  readonly id: number;
  readonly method: string;
  readonly params?: {
    readonly functionDeclaration?: string;
    readonly arguments?: readonly { readonly value?: unknown }[];
  };
}

/** Returns a text in the arguments of a command, by its name. */
function textOf(name: string, sent: readonly object[]): string | undefined {
  const text = `"value":"${name}"\\}\\],\\[\\{"type":"string","value":"v"\\},\\{"type":"string","value":("(?:[^"\\\\]|\\\\.)*")`;
  const found = new RegExp(text).exec(JSON.stringify(sent))?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as string);
}

/** Returns the command without `eval`, if it is a script of playwright-core. */
function withoutEval(command: Command): Command {
  const { functionDeclaration = "", arguments: sent = [] } = command.params ?? {};
  const text = sent[3]?.value;
  if (typeof text !== "string" || !functionDeclaration.includes("utilityScript.evaluate(")) return command;
  const source = text.includes("injectedScript.extend(") ? textOf("source", sent) : undefined;
  const module = `(() => { const module = {};${source ?? ""}\nreturn module.exports?.default(); })()`;
  const [body, callback] = ["functionText", "callbackText"].map((name) => textOf(name, sent) ?? "undefined");
  const own = `(utilityScript, ...sent) => {
    const { global } = utilityScript;
    const injected = sent.find((one) => typeof one?.extend === "function") ?? {};
    utilityScript.global = { eval: () => (${text}\n) };
    injected.eval = (code) => code === ${JSON.stringify(callback)} ? (${callback}\n) : (${body}\n);
    injected.extend = (_source, options) => new (${module})(injected, options);
    try {
      return utilityScript.evaluate(...sent);
    } finally {
      utilityScript.global = global;
      delete injected.eval;
      delete injected.extend;
    }
  }`;
  return { ...command, params: { ...command.params, functionDeclaration: own } };
}

const firefox = spawn(process.env["FIREFOX"] ?? "firefox-esr", process.argv.slice(2), {
  stdio: ["ignore", "ignore", "pipe"],
});
process.once("exit", () => firefox.kill());
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => firefox.kill());
firefox.once("exit", (code) => process.exit(code ?? 1));

for await (const line of createInterface({ input: firefox.stderr })) {
  const url = /^WebDriver BiDi listening on (ws:.*)$/.exec(line)?.[1];
  if (url !== undefined) await relay(url);
}

/** Forwards messages between playwright-core and Firefox, and writes the URL for which playwright-core waits. */
async function relay(url: string): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (near) => {
    const far = new WebSocket(`${url}/session`, { perMessageDeflate: false });
    const opened = once(far, "open");
    const methods = new Map<number, string>();
    near.on("message", async (data) => {
      const command = JSON.parse(String(data)) as Command;
      methods.set(command.id, command.method);
      await opened;
      far.send(JSON.stringify(withoutEval(command)));
    });
    far.on("message", (data) => {
      const { id, error } = JSON.parse(String(data)) as { readonly id?: number; readonly error?: string };
      const result = WITHOUT[methods.get(id ?? 0) ?? ""];
      methods.delete(id ?? 0);
      const isMissing = error === "unknown command" && result !== undefined;
      near.send(isMissing ? JSON.stringify({ type: "success", id, result }) : String(data));
    });
    far.on("close", () => near.close());
    near.on("close", () => far.close());
  });
  await once(server, "listening");
  process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
}
