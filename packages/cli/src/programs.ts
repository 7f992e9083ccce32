import { extname, join } from "node:path";

/** This program, for processes that are a part of it. */
export const BIN: string = join(import.meta.dirname, `bin${extname(import.meta.filename)}`);
