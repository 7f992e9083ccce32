// What is measured: a view of a collection, with token authentication on.
import { createServer } from "@virtual-workspaces/framework";
import { serveCommands } from "../_harness/commands.ts";
import { peakMemory } from "../_harness/peak-memory.ts";
import { tokens, view, widgets } from "./widget-view.ts";

const server = createServer({ virtualWorkspaces: [view], authentication: [tokens] });

const commands = {
  ...peakMemory,
  listen: async (): Promise<number> => (await server.listen({ port: 0 })).port,
  /** Makes `count` objects whose JSON is about `bytes` long each. */
  fill: ({ count, bytes }: { readonly count: number; readonly bytes: number }): void => {
    const part = widgets.in("");
    part.set("size", { text: "" });
    const text = "x".repeat(bytes - JSON.stringify(part.get("size")).length);
    part.delete("size");
    for (let n = 0; n < count; n++) part.set(`w${String(n).padStart(5, "0")}`, { text });
  },
};

export type Widgets = typeof commands;

serveCommands(commands);
