// The rival: Express 5 as most write it, one object through `res.json`. It asks for no credentials, in its favour.
import { createServer } from "node:http";
import express from "express";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";

let object: unknown = {};

const app = express();
app.get("/services/bench/apis/bench.example/v1/widgets/:name", (_req, res) => {
  res.json(object);
});

const commands = {
  listen: () => listen(createServer({ keepAliveTimeout: 120_000, noDelay: true }, app)),
  /** What to answer from now on. */
  use: (json: string): void => {
    object = JSON.parse(json);
  },
};

export type Express = typeof commands;

serveCommands(commands);
