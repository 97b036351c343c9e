/** The first screen: who is on the team. */

import { useApp } from "../state/context";

export function Root() {
  const { team, connection } = useApp();
  return (
    <main>
      <h1>farhand</h1>
      <p>{connection.value.link}</p>
      <ul>
        {(team.value ?? []).map((worker) => (
          <li key={worker.name}>
            {worker.name} {worker.state} {worker.lastLine}
          </li>
        ))}
      </ul>
    </main>
  );
}
