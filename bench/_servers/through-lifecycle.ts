// What is measured: the view of workspaces that are set up.
import { initializingWorkspacesView } from "@virtual-workspaces/lifecycle";
import { serveCommands } from "../_harness/commands.ts";
import { through } from "./through.ts";

const commands = through((upstream) => initializingWorkspacesView({ upstream }));

export type ThroughLifecycle = typeof commands;

serveCommands(commands);
