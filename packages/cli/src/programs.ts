import { extname, join } from "node:path";

/** This program, for processes that are a part of it. */
export const BIN: string = join(import.meta.dirname, `bin${extname(import.meta.filename)}`);

/** `kubectl ws`. */
export const KUBECTL_WS: string = join(import.meta.dirname, `kubectl-ws${extname(import.meta.filename)}`);
