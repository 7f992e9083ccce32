/** The longest that is told of what a tool complains of, characters. */
const LONGEST = 300;
/** What says the cause, wherever it stands: its own words of it are many. */
const DOCKER =
  /(?:Cannot connect to the Docker daemon|permission denied while trying to connect to the [Dd]ocker)[^"\n\\]*/;
/** Colours, and other things that terminals do. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are control characters
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g;
/** How tools begin lines that say what is wrong. */
const COMPLAINT = /^(?:ERROR: |(?:ERRO|FATA)\[\d+\] |Error: |error: )/;

/** What a tool says is wrong, for people: the first line of it. `undefined`: nothing. */
export function wordsOf(stderr: string): string | undefined {
  const text = stderr.replace(ESCAPES, "");
  const [docker] = DOCKER.exec(text) ?? [];
  if (docker !== undefined) return `${docker.trim()} Start it, or let the manager's user use it`.slice(0, LONGEST);
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const line = lines.find((one) => COMPLAINT.test(one)) ?? lines[0];
  return line?.replace(COMPLAINT, "").slice(0, LONGEST);
}
