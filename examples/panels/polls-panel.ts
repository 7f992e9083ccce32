// Runs in the browser: the polls of the workspace, live, each with a button that votes.
import type { ViewPanel } from "@virtual-workspaces/framework/panel";

const POLLS = { group: "example.dev", version: "v1", resource: "polls" };
type Poll = { apiVersion: string; kind: string; metadata: { name: string }; spec: { question: string; votes: number } };

export const mount: ViewPanel = (element, { client }) => {
  const [list, problem] = [document.createElement("ul"), document.createElement("p")];
  const fail = ({ message }: Error) => (problem.textContent = message);
  element.append(list, problem);
  client.watch<Poll>(POLLS, ({ items, state, error }) => {
    problem.textContent = error?.message ?? (state === "live" && items.length === 0 ? "No polls." : "");
    const rows = items.map(({ metadata: { name }, spec: { question, votes } }) => {
      const row = document.createElement("li");
      const button = document.createElement("button");
      button.textContent = `Vote for ${name}`;
      button.onclick = () => client.patch({ ...POLLS, name }, { spec: { votes: votes + 1 } }).catch(fail);
      row.append(`${question} Votes: ${votes} `, button);
      return row;
    });
    list.replaceChildren(...rows);
  });
};
