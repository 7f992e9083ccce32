// What is measured: the view of APIExports.
import { apiExportView } from "@virtual-workspaces/apiexport";
import { sameCaller } from "@virtual-workspaces/forwarding";
import { serveCommands } from "../_harness/commands.ts";
import { through } from "./through.ts";

const commands = through((upstream) => apiExportView({ upstream, identity: sameCaller }));

export type ThroughExport = typeof commands;

serveCommands(commands);
