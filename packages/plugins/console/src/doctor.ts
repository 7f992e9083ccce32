// The page of the console imports the texts alone; as an entry, they throw the sentence of all entries on an old Node.js.
import "@virtual-workspaces/transport";

export { DOCTOR_TEXTS, type IndexLag, indexLags, type ReadinessCheck, readinessChecks } from "./doctor-texts.ts";
