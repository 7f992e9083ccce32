/**
 * The console: a web page for workspaces and their resources, served by the server itself.
 *
 * @module
 */

export { type Console, type ConsoleOptions, createConsole, createConsoleMemory } from "./console.ts";
export type { OidcClient } from "./oidc.ts";
export type { ConsoleMemory, ProcessMemory } from "./sessions.ts";
