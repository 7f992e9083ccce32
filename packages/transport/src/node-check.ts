// Imported first by the entry point, so that an older Node.js reports its version and not the first thing that it lacks.
import { nodeTooOld } from "./node-version.ts";

const message = nodeTooOld("This version of @virtual-workspaces");
if (message !== undefined) throw new Error(message);
