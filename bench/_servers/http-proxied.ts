// A rival: the package `http-proxy` behind `node:http`, with connections that are kept.
import { Agent, createServer } from "node:http";
import httpProxy from "http-proxy";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { peakMemory } from "../_harness/peak-memory.ts";

process.noDeprecation = true; // it calls what is out of date
const agent = new Agent({ keepAlive: true });
let target: string;

const proxy = httpProxy.createProxyServer({ agent });
const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (req, res) => {
  proxy.web(req, res, { target }, () => res.destroy());
});

const commands = {
  ...peakMemory,
  listen: (upstream: number): Promise<number> => {
    target = `http://127.0.0.1:${upstream}`;
    return listen(server);
  },
};

export type HttpProxied = typeof commands;

serveCommands(commands);
