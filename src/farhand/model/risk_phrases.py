"""What the node says of risks and of agents that do not run, by code, in the five languages of the app. Pure."""

from typing import Final, TypeAlias

# English, German, French, Spanish, Chinese.
FiveLanguages: TypeAlias = tuple[str, str, str, str, str]
RISKS: Final[dict[str, FiveLanguages]] = {
    "risk_another_user": (
        "runs as another user",
        "läuft als anderer Benutzer",
        "s’exécute sous un autre utilisateur",
        "se ejecuta como otro usuario",
        "以其他用户身份运行",
    ),
    "risk_configures": (
        "touches what configures tools or shells",
        "berührt, was Werkzeuge oder Shells einstellt",
        "touche à la configuration d’outils ou de shells",
        "toca la configuración de herramientas o shells",
        "涉及工具或 shell 的配置",
    ),
    "risk_deletes": (
        "deletes or overwrites",
        "löscht oder überschreibt",
        "supprime ou écrase",
        "borra o sobrescribe",
        "会删除或覆盖",
    ),
    "risk_deletes_inside": (
        "deletes in the folder",
        "löscht im Ordner",
        "supprime dans le dossier",
        "borra en la carpeta",
        "在文件夹内删除",
    ),
    "risk_deletes_outside": (
        "deletes outside the folder: {paths}",
        "löscht außerhalb des Ordners: {paths}",
        "supprime hors du dossier : {paths}",
        "borra fuera de la carpeta: {paths}",
        "在文件夹外删除：{paths}",
    ),
    "risk_deletes_unnamed": (
        "deletes files, and does not say which",
        "löscht Dateien und sagt nicht, welche",
        "supprime des fichiers sans dire lesquels",
        "borra archivos y no dice cuáles",
        "删除文件，但未说明是哪些",
    ),
    "risk_fetched_code": (
        "runs what it fetches from the network",
        "führt aus, was es aus dem Netz holt",
        "exécute ce qu’il récupère du réseau",
        "ejecuta lo que descarga de la red",
        "运行从网络获取的内容",
    ),
    "risk_folder_settings": (
        "what is listed here runs or counts without a question, in every mode",
        "was hier steht, läuft oder gilt ohne Frage, in jedem Modus",
        "ce qui figure ici s’exécute ou compte sans question, dans tous les modes",
        "lo que figura aquí se ejecuta o vale sin preguntar, en todos los modos",
        "此处所列内容在任何模式下都会不经询问地运行或生效",
    ),
    "risk_hides": (
        "part of what runs cannot be read off the line",
        "ein Teil dessen, was läuft, ist der Zeile nicht anzusehen",
        "une partie de ce qui s’exécute ne se lit pas sur la ligne",
        "parte de lo que se ejecuta no se ve en la línea",
        "部分运行内容无法从命令行看出",
    ),
    "risk_installs": (
        "runs code that it installs",
        "führt Code aus, den es installiert",
        "exécute du code qu’il installe",
        "ejecuta código que instala",
        "运行其安装的代码",
    ),
    "risk_lasts": (
        "goes on after the turn",
        "läuft nach dem Zug weiter",
        "continue après le tour",
        "sigue después del turno",
        "本轮结束后仍会继续",
    ),
    "risk_long": (
        "too long to be judged: only its beginning and its end were looked at",
        "zu lang zum Beurteilen: nur Anfang und Ende wurden angesehen",
        "trop long pour être jugé : seuls le début et la fin ont été examinés",
        "demasiado largo para juzgarlo: solo se miraron el principio y el final",
        "过长，无法判断：只查看了开头和结尾",
    ),
    "risk_network": ("uses the network", "benutzt das Netz", "utilise le réseau", "usa la red", "使用网络"),
    "risk_network_hosts": (
        "uses the network: {hosts}",
        "benutzt das Netz: {hosts}",
        "utilise le réseau : {hosts}",
        "usa la red: {hosts}",
        "使用网络：{hosts}",
    ),
    "risk_publishes": (
        "changes something elsewhere",
        "ändert etwas anderswo",
        "change quelque chose ailleurs",
        "cambia algo en otro sitio",
        "会更改别处的内容",
    ),
    "risk_reaches_outside": (
        "reaches outside the folder: {paths}",
        "greift über den Ordner hinaus: {paths}",
        "sort du dossier : {paths}",
        "sale de la carpeta: {paths}",
        "涉及文件夹之外：{paths}",
    ),
    "risk_reads_outside": (
        "reads outside the folder: {paths}",
        "liest außerhalb des Ordners: {paths}",
        "lit hors du dossier : {paths}",
        "lee fuera de la carpeta: {paths}",
        "读取文件夹之外：{paths}",
    ),
    "risk_shell": (
        "runs a shell command with your rights",
        "führt einen Shell-Befehl mit deinen Rechten aus",
        "exécute une commande shell avec tes droits",
        "ejecuta un comando de shell con tus permisos",
        "以你的权限运行 shell 命令",
    ),
    "risk_unknown": (
        "unknown: nobody here can tell what this does",
        "unbekannt: niemand hier kann sagen, was das tut",
        "inconnu : personne ici ne peut dire ce que cela fait",
        "desconocido: nadie aquí puede decir qué hace esto",
        "未知：这里无人能判断它会做什么",
    ),
    "risk_writes_outside": (
        "writes outside the folder: {paths}",
        "schreibt außerhalb des Ordners: {paths}",
        "écrit hors du dossier : {paths}",
        "escribe fuera de la carpeta: {paths}",
        "在文件夹外写入：{paths}",
    ),
    "risk_writes_unnamed": (
        "writes files, and does not say which",
        "schreibt Dateien und sagt nicht, welche",
        "écrit des fichiers sans dire lesquels",
        "escribe archivos y no dice cuáles",
        "写入文件，但未说明是哪些",
    ),
    "routine_reads": (
        "reads in the folder",
        "liest im Ordner",
        "lit dans le dossier",
        "lee en la carpeta",
        "在文件夹内读取",
    ),
    "routine_writes": (
        "writes in the folder",
        "schreibt im Ordner",
        "écrit dans le dossier",
        "escribe en la carpeta",
        "在文件夹内写入",
    ),
}
REASONS: Final[dict[str, FiveLanguages]] = {
    "push_not_subscribed": (
        "This device is not subscribed. Switch notifications on here first.",
        "Dieses Gerät ist nicht angemeldet. Schalte hier zuerst die Mitteilungen ein.",
        "Cet appareil n’est pas abonné. Active d’abord les notifications ici.",
        "Este dispositivo no está suscrito. Activa primero aquí las notificaciones.",
        "此设备未订阅。请先在此处开启通知。",
    ),
    "push_taken": (
        "{service} took it. It should be on your screen now.",
        "{service} hat sie angenommen. Sie sollte jetzt auf deinem Bildschirm sein.",
        "{service} l’a acceptée. Elle devrait être sur ton écran.",
        "{service} la aceptó. Debería estar ya en tu pantalla.",
        "{service} 已接收。现在应已显示在你的屏幕上。",
    ),
    "push_unreachable": (
        "{service} cannot be reached from the node: {why}",
        "{service} ist vom Node aus nicht erreichbar: {why}",
        "{service} est injoignable depuis le nœud : {why}",
        "No se llega a {service} desde el nodo: {why}",
        "节点无法连接 {service}：{why}",
    ),
    "why_agent_ended": (
        "The agent ended.",
        "Der Agent hat sich beendet.",
        "L’agent s’est arrêté.",
        "El agente terminó.",
        "代理已结束。",
    ),
    "why_asks_about_trust": (
        "it asks whether its folder can be trusted. Answer that once at the desk, then try again.",
        "er fragt, ob seinem Ordner vertraut werden kann. Beantworte das einmal am Schreibtisch und versuche "
        "es dann erneut.",
        "il demande si son dossier est sûr. Réponds-y une fois au poste, puis réessaie.",
        "pregunta si se puede confiar en su carpeta. Respóndelo una vez en el escritorio e inténtalo de nuevo.",
        "它询问是否可以信任其文件夹。请在桌面上回答一次，然后重试。",
    ),
    "why_cannot_use_model": (
        "it cannot use its model. Sign in at the desk where that model comes from, or choose another one, "
        "then try again.",
        "er kann sein Modell nicht benutzen. Melde dich am Schreibtisch dort an, woher das Modell kommt, "
        "oder wähle ein anderes, und versuche es dann erneut.",
        "il ne peut pas utiliser son modèle. Connecte-toi au poste là d’où vient ce modèle, ou choisis-en un "
        "autre, puis réessaie.",
        "no puede usar su modelo. Inicia sesión en el escritorio donde está ese modelo, o elige otro, e "
        "inténtalo de nuevo.",
        "它无法使用其模型。请在桌面上登录该模型的提供方，或选择其他模型，然后重试。",
    ),
    "why_cannot_use_model_by": (
        "it cannot use its model. Sign in at the desk where that model comes from: {how}. Or choose another one. "
        "Then try again.",
        "er kann sein Modell nicht benutzen. Melde dich am Schreibtisch dort an, woher das Modell kommt: {how}. Oder "
        "wähle ein anderes. Versuche es dann erneut.",
        "il ne peut pas utiliser son modèle. Connecte-toi au poste là d’où vient ce modèle : {how}. Ou choisis-en un "
        "autre. Puis réessaie.",
        "no puede usar su modelo. Inicia sesión en el escritorio donde está ese modelo: {how}. O elige otro. Después "
        "inténtalo de nuevo.",
        "它无法使用其模型。请在桌面上登录该模型的提供方：{how}。或选择其他模型。然后重试。",
    ),
    "why_folder_gone": (
        "There is no folder {folder}; {worker} cannot work there.",
        "Es gibt keinen Ordner {folder}; {worker} kann dort nicht arbeiten.",
        "Il n’y a pas de dossier {folder} ; {worker} ne peut pas y travailler.",
        "No existe la carpeta {folder}; {worker} no puede trabajar ahí.",
        "没有文件夹 {folder}；{worker} 无法在那里工作。",
    ),
    "why_folder_not_trusted": (
        "The folder {folder} was not trusted, so nothing was started in it. A relaunch asks again.",
        "Dem Ordner {folder} wurde nicht vertraut, darum wurde darin nichts gestartet. Ein Neustart fragt erneut.",
        "Le dossier {folder} n’a pas été jugé sûr, rien n’y a donc été démarré. Une relance redemande.",
        "No se confió en la carpeta {folder}, así que no se inició nada en ella. Un reinicio vuelve a preguntar.",
        "文件夹 {folder} 未被信任，因此未在其中启动任何程序。重新启动会再次询问。",
    ),
    "why_key_refused": (
        "its key or sign-in is refused. Renew it at the desk, then try again.",
        "sein Schlüssel oder seine Anmeldung wird abgelehnt. Erneuere sie am Schreibtisch und versuche es dann erneut.",
        "sa clé ou sa connexion est refusée. Renouvelle-la au poste, puis réessaie.",
        "su clave o su inicio de sesión se rechaza. Renuévalo en el escritorio e inténtalo de nuevo.",
        "其密钥或登录被拒绝。请在桌面上更新，然后重试。",
    ),
    "why_key_refused_by": (
        "its key or sign-in is refused. Renew it at the desk: {how}. Then try again.",
        "sein Schlüssel oder seine Anmeldung wird abgelehnt. Erneuere sie am Schreibtisch: {how}. Versuche es dann "
        "erneut.",
        "sa clé ou sa connexion est refusée. Renouvelle-la au poste : {how}. Puis réessaie.",
        "su clave o su inicio de sesión se rechaza. Renuévalo en el escritorio: {how}. Después inténtalo de nuevo.",
        "其密钥或登录被拒绝。请在桌面上更新：{how}。然后重试。",
    ),
    "why_no_key": (
        "it has no key. Sign in at the desk, or set its key where the node is started, then try again.",
        "er hat keinen Schlüssel. Melde dich am Schreibtisch an oder setze den Schlüssel dort, wo der Node "
        "gestartet wird, und versuche es dann erneut.",
        "il n’a pas de clé. Connecte-toi au poste, ou définis sa clé là où le nœud est lancé, puis réessaie.",
        "no tiene clave. Inicia sesión en el escritorio, o pon su clave donde se inicia el nodo, e inténtalo de nuevo.",
        "它没有密钥。请在桌面上登录，或在启动节点处设置密钥，然后重试。",
    ),
    "why_no_key_by": (
        "it has no key. Sign in at the desk: {how}. Or set its key where the node is started. Then try again.",
        "er hat keinen Schlüssel. Melde dich am Schreibtisch an: {how}. Oder setze den Schlüssel dort, wo der Node "
        "gestartet wird. Versuche es dann erneut.",
        "il n’a pas de clé. Connecte-toi au poste : {how}. Ou définis sa clé là où le nœud est lancé. Puis réessaie.",
        "no tiene clave. Inicia sesión en el escritorio: {how}. O pon su clave donde se inicia el nodo. Después "
        "inténtalo de nuevo.",
        "它没有密钥。请在桌面上登录：{how}。或在启动节点处设置密钥。然后重试。",
    ),
    "why_no_network": (
        "no network. It is tried again by itself.",
        "kein Netz. Es wird von selbst erneut versucht.",
        "pas de réseau. Un nouvel essai se fait tout seul.",
        "sin red. Se vuelve a intentar solo.",
        "没有网络。会自动重试。",
    ),
    "why_no_reason": (
        "No reason was given.",
        "Ein Grund wurde nicht genannt.",
        "Aucune raison n’a été donnée.",
        "No se dio ningún motivo.",
        "未给出原因。",
    ),
    "why_not_signed_in": (
        "not signed in. Sign in at the desk with the agent's own program, then try again.",
        "nicht angemeldet. Melde dich am Schreibtisch mit dem Programm des Agenten an und versuche es dann erneut.",
        "non connecté. Connecte-toi au poste avec le programme de l’agent, puis réessaie.",
        "sin iniciar sesión. Inicia sesión en el escritorio con el programa del agente e inténtalo de nuevo.",
        "未登录。请在桌面上用代理自己的程序登录，然后重试。",
    ),
    "why_not_signed_in_by": (
        "not signed in. Sign in at the desk: {how}. Then try again.",
        "nicht angemeldet. Melde dich am Schreibtisch an: {how}. Versuche es dann erneut.",
        "non connecté. Connecte-toi au poste : {how}. Puis réessaie.",
        "sin iniciar sesión. Inicia sesión en el escritorio: {how}. Después inténtalo de nuevo.",
        "未登录。请在桌面上登录：{how}。然后重试。",
    ),
    "why_program_missing": (
        "There is no '{program}' on PATH: {install}",
        "Es gibt kein „{program}“ im PATH: {install}",
        "Il n’y a pas de « {program} » dans le PATH : {install}",
        "No hay «{program}» en el PATH: {install}",
        "PATH 中没有“{program}”：{install}",
    ),
    "why_turn_without_network": (
        "no network. Try again when the network is back.",
        "kein Netz. Versuche es erneut, wenn das Netz wieder da ist.",
        "pas de réseau. Réessaie quand le réseau est revenu.",
        "sin red. Inténtalo de nuevo cuando vuelva la red.",
        "没有网络。网络恢复后请重试。",
    ),
}
