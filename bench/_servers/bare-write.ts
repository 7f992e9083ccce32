// The rival: a bare `node:http` handler that reads a body, parses it, and answers with what it stringifies.
import { createServer } from "node:http";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";

const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (req, res) => {
  const pieces: Buffer[] = [];
  req.on("data", (piece: Buffer) => pieces.push(piece));
  req.once("end", () => {
    const object: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    const body = Buffer.from(JSON.stringify(object));
    res.writeHead(201, { "Content-Type": "application/json", "Content-Length": body.length });
    res.end(body);
  });
});

const commands = { listen: () => listen(server) };

export type BareWrite = typeof commands;

serveCommands(commands);
