// Why: the first question about a run that fails elsewhere is what it ran on.
import { availableParallelism, totalmem } from "node:os";
import { run } from "./run.mjs";

const programs = [
  ["go", "version"],
  ["kubectl", "version", "--client"],
  ["tsc", "--version"],
];
const outputs = await Promise.all(programs.map(async ([command = "", ...args]) => (await run(command, args)).output));
const versions = outputs.map((output) => output.split("\n")[0]);
const size = `${availableParallelism()} cores, ${(totalmem() / 2 ** 30).toFixed(1)} GiB`;
console.log([`Node ${process.version} on ${process.platform}-${process.arch}, ${size}`, ...versions].join("\n"));
