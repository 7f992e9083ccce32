import { yamlTexts } from "../object/editor/texts.ts";
import { texts as common } from "../texts.ts";

/** Texts about pods. */
export const texts = {
  copy: common.workspace.copy,
  container: "Container",
  init: (name: string) => `${name} (init)`,
  noContainers: "This pod has no containers.",
  logs: {
    label: (container: string) => `Log of the container ${container}`,
    previous: "Previous container",
    tail: "Earlier lines",
    all: "All",
    timestamps: "Timestamps",
    wrap: yamlTexts.wrap,
    search: "Search the log",
    found: (count: number) => (count === 1 ? "1 line" : `${count.toLocaleString("en")} lines`),
    copy: "Copy the lines",
    download: "Download the lines",
    clear: "Clear",
    toEnd: "Go to the end",
    state: {
      connecting: common.loading,
      following: "Following",
      reconnecting: "The log was interrupted. The page reads on where it ended, as soon as the server answers.",
      ended: "The log has ended: the container does not run.",
      complete: "The log is complete: the container is a previous one.",
    },
    readOn: "Read on",
    again: common.errors.again,
    empty: "Nothing has been logged yet.",
    noMatch: "No line matches.",
    dropped: (count: number, most: number) =>
      `The page keeps the last ${most.toLocaleString("en")} lines, and at most 8 million characters: ${count.toLocaleString("en")} earlier lines are gone. The server has them.`,
    cut: (length: number) => ` … (${length.toLocaleString("en")} more characters)`,
  },
  terminal: {
    command: "Command",
    other: "Other command",
    typed: "Command line",
    typedHint: "Words are separated by spaces. A word with spaces is in quotation marks.",
    interactive: "Terminal, with input",
    connect: "Connect",
    end: "End the session",
    label: (container: string) => `Terminal in the container ${container}`,
    keys: "Shift+Tab leaves the terminal.",
    state: {
      connecting: "Connecting…",
      open: (container: string) => `Connected to ${container}.`,
    },
    exit: (code: string) => `The command has ended: exit code ${code}.`,
    lost: "The connection was lost. The command may still run in the container.",
    closed: "You ended the session.",
    noCommand: "Type a command.",
    denied: (reason: string) =>
      `You may not create pods/exec here, so the server will reject a terminal${reason === "" ? "." : `: ${reason}`}`,
    openQuote: "A quotation mark is missing.",
  },
  ports: {
    hint: "A browser cannot forward ports: kubectl does, on your machine. Copy a kubeconfig, add your token, and run the command.",
    container: "Port of the container",
    local: "Port on your machine",
    command: "Command",
    copyCommand: "Copy the command",
    invalid: "Use a port from 1 to 65535.",
  },
} as const;
