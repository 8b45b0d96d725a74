"""Test what a query warns of: joins that miscount, and text taken for numbers or dates."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tea.types import ToolResponse

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]


SHIPS: dict[str, str | bytes] = {
    "ships.csv": "ship,owner,tons\na,x,10\nb,x,20\nc,y,30\nd,q,40\n",
    "owners.csv": "owner,city,fee\nx,Oslo,3\ny,Rome,3\nz,Rome,4\n",
    "storms.csv": "city,day\nOslo,1\nOslo,2\nRome,3\n",
}
EACH_EACH = "each joins each; sum or count each table first"
LEFT_OUT = "1 rows of ships join none of owners, and are left out; LEFT JOIN keeps them"


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        (
            "SELECT count(*) FROM owners o JOIN storms s ON o.city = s.city",
            f'several rows of owners and of storms have the same "city": {EACH_EACH}',
        ),
        ("SELECT count(*) FROM owners LEFT JOIN ships USING (owner)", "it counts rows of ships, not of owners"),
        ("SELECT count(*) FROM ships LEFT JOIN owners USING (owner)", ""),
        (
            "SELECT count(o.owner) FROM ships s LEFT JOIN owners o ON o.owner = s.owner",
            "it counts rows of ships, not of owners",
        ),
        (
            "SELECT count(*) FROM ships s, owners o WHERE s.owner = o.owner",
            f"it counts rows of ships, not of owners; {LEFT_OUT}",
        ),
        (
            "SELECT city, count(*) FROM owners o JOIN ships AS s ON norm(s.owner) = norm(o.owner) GROUP BY city",
            LEFT_OUT,
        ),
        ("SELECT city, sum(tons) FROM ships s JOIN owners o ON s.owner = o.owner GROUP BY city", LEFT_OUT),
        (
            "SELECT avg(length(city)), sum(o.fee) FROM owners o LEFT JOIN ships s ON s.owner = o.owner",
            "a row of owners joins several of ships, so its columns are summed several times",
        ),
        (
            "SELECT sum(DISTINCT o.fee) FROM owners o LEFT JOIN ships s ON s.owner = o.owner",
            'DISTINCT takes equal "fee" of several rows of owners once; '
            "sum before joining, or replace the join by IN (SELECT ...)",
        ),
        (
            "SELECT avg(DISTINCT fee) FROM owners WHERE fee > 1",
            'DISTINCT takes equal "fee" of several rows of owners once; leave DISTINCT out',
        ),
        ("SELECT sum(DISTINCT tons) FROM owners o LEFT JOIN ships s ON s.owner = o.owner", ""),
        ("SELECT sum(tons * o.fee), count(*) FROM ships s LEFT JOIN owners o ON s.owner = o.owner", ""),
        ("SELECT total(DISTINCT tons), count(DISTINCT owner) FROM ships", ""),
        ("SELECT count(DISTINCT o.owner) FROM ships s JOIN owners o ON s.owner = o.owner", ""),
        ("SELECT ship, city FROM ships s JOIN owners o ON s.owner = o.owner", ""),
        ("SELECT count(*) FROM ships WHERE owner = 'x' -- JOIN owners ON ships.owner = owners.owner", ""),
        ("SELECT count(*) FROM (SELECT DISTINCT owner FROM ships)", ""),
    ],
)
async def test_rows_that_a_join_counts_again_or_leaves_out_are_warned_of(
    ask_files: Ask, sql: str, warning: str
) -> None:
    assert (await ask_files(SHIPS, sql=sql)).unwrap().get("warning", "") == warning


STORES: dict[str, str | bytes] = {
    "stores.csv": "store_id,city\n1,Oslo\n2,Rome\n",
    "sales.csv": "id,store_id,amount\n1,1,10\n2,1,20\n3,2,30\n",
    "returns.csv": "id,store_id,amount\n1,1,1\n2,1,2\n3,2,2\n",
    "leases.csv": "store_id,rent\n1,5\n2,6\n",
}
FANNED = f'several rows of returns and of sales have the same "store_id": {EACH_EACH}'
HUB = "FROM stores st JOIN sales s ON s.store_id = st.store_id JOIN returns r ON r.store_id = "


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        (f"SELECT SUM(s.amount) - SUM(r.amount) {HUB} st.store_id", FANNED),
        (f"SELECT SUM(s.amount) - SUM(r.amount) {HUB} s.store_id", FANNED),
        (f"SELECT COUNT(s.id), COUNT(r.id) {HUB} st.store_id", FANNED),
        (f"SELECT city, COUNT(*) {HUB} st.store_id AND r.id = s.id GROUP BY 1", ""),
        (
            "SELECT city, SUM(amount) FROM stores JOIN leases USING (store_id) JOIN sales USING (store_id) GROUP BY 1",
            "",
        ),
        (
            "SELECT city, (SELECT SUM(s.amount) FROM sales s WHERE s.store_id = st.store_id)"
            " - (SELECT SUM(r.amount) FROM returns r WHERE r.store_id = st.store_id) FROM stores st",
            "",
        ),
        (
            "WITH a AS (SELECT city, SUM(s.amount) AS n FROM stores st JOIN sales s USING (store_id) GROUP BY city),"
            " b AS (SELECT city, SUM(r.amount) AS m FROM stores st JOIN returns r USING (store_id) GROUP BY city)"
            " SELECT n - m FROM a JOIN b USING (city)",
            "",
        ),
    ],
)
async def test_several_rows_of_two_tables_that_meet_at_one_row_are_warned_of(
    ask_files: Ask, sql: str, warning: str
) -> None:
    assert (await ask_files(STORES, sql=sql)).unwrap().get("warning", "") == warning


READINGS: dict[str, str | bytes] = {
    "r.csv": "place,temp,zip,day,on\nOslo,21.5,007,2025-05-31,31/5/2025\nRome,5,123,2025-06-02,2/6/2025\n"
    'Rome,"20,5",4,2025-06-10,10/6/2025\n'
}
AS_NUMBER = "CAST(replace(\"temp\", ',', '.') AS REAL)"
COUNTS = f"\"temp\" is text; '20,5' counts as 20 (1 of 3 values are not plain numbers): take {AS_NUMBER}"
LETTERS = f"\"temp\" is text ('20,5' is not a plain number) and compared letter by letter; {AS_NUMBER} compares numbers"
UNLIKE = "'2025-6-1' is not written as the dates of \"day\", such as '2025-05-31': did you mean '2025-06-01'?"


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        ("SELECT AVG(temp) FROM r WHERE place = 'Rome'", COUNTS),
        ('SELECT SUM(DISTINCT x."temp"), sum(temp) FROM r x', COUNTS),
        ("SELECT place FROM r WHERE CAST(temp AS REAL) < 100", COUNTS),
        ("SELECT temp * 1.8 + 32 FROM r", COUNTS),
        ("SELECT place FROM r WHERE temp < 100 OR temp <> 999", LETTERS),
        ("SELECT place FROM r WHERE Temp NOT BETWEEN -1 AND 30", LETTERS.replace('"temp"', '"Temp"')),
        ("SELECT MAX(temp) FROM r", LETTERS),
        ("SELECT place FROM r ORDER BY temp DESC", LETTERS),
        ("SELECT SUM(CAST(replace(temp, ',', '.') AS REAL)), MAX(zip), MIN(place) FROM r WHERE zip < 8", ""),
        ("SELECT n FROM (SELECT place, COUNT(*) AS temp, 1 AS n FROM r GROUP BY 1) WHERE temp > 1 ORDER BY place", ""),
        ("SELECT place FROM r WHERE day > '2025-6-1'", UNLIKE),
        ("SELECT place FROM r WHERE day BETWEEN '2025-05-01' AND '2025-6-1'", UNLIKE),
        ("SELECT place FROM r WHERE day >= '2025-06' AND day < '2025' AND day <= '2025-06-10 12:00'", ""),
        (
            "SELECT place FROM r WHERE \"on\" > '1/6/2025'",
            "\"on\" is written as '31/5/2025', in no order of time: compare iso(\"on\", 'dmy') with "
            "a date such as '2024-05-31'",
        ),
        ("SELECT place FROM r WHERE iso(\"on\", 'dmy') > '2025-06-01' AND place > 'O'", ""),
    ],
)
async def test_text_taken_for_numbers_or_dates_in_order_is_warned_of(ask_files: Ask, sql: str, warning: str) -> None:
    assert (await ask_files(READINGS, sql=sql)).unwrap().get("warning", "") == warning


BUYERS: dict[str, str | bytes] = {
    "buyers.csv": "buyer_id,name,city,first,last\nb1,Flo Voss,Oslo,Flo,Voss\nb2,Flo Voss,Rome,Flo,Voss\n"
    "b3,Ed Kern,Rome,Ed,Kern\n",
    "orders.csv": "id,buyer,amount\n1,b1,10\n2,b2,20\n3,b3,30\n4,b3,5\n",
    "visits.csv": "visit,ward_id,ward_name,bed,bed_number,nurse,days\n1,7,North,low,11,Di,1\n2,8,North,low,12,Di,2\n"
    "3,9,South,high,13,Ed,3\n4,7,North,high,14,Ed,1\n",
}
BUYERS_OF = "FROM orders o JOIN buyers b ON o.buyer = b.buyer_id"
TWO = "'Flo Voss' stands for 2 buyer_id, taken as one; GROUP BY b.buyer_id, {} keeps them apart"
WARDS = "'North' stands for 2 ward_id, taken as one; GROUP BY visits.ward_id, ward_name keeps them apart"


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        (f"SELECT b.name, COUNT(*) AS n {BUYERS_OF} GROUP BY b.name ORDER BY n DESC", TWO.format("b.name")),
        (f"SELECT name, SUM(amount) {BUYERS_OF} GROUP BY 1 -- all of them", TWO.format("name")),
        (f"SELECT b.name AS who, COUNT(*) {BUYERS_OF} GROUP BY who HAVING COUNT(*) > 1", TWO.format("b.name")),
        (f"SELECT MAX(n) FROM (SELECT name, COUNT(*) AS n {BUYERS_OF} GROUP BY name)", TWO.format("name")),
        (
            "WITH o AS (SELECT * FROM orders WHERE id > 0) "
            "SELECT b.name, SUM(o.amount) FROM o JOIN buyers b ON o.buyer = b.buyer_id GROUP BY b.name",
            TWO.format("b.name"),
        ),
        (f"SELECT first, last, SUM(amount) {BUYERS_OF} GROUP BY first, last", TWO.format("first, last")),
        ("SELECT ward_name, SUM(days) FROM visits GROUP BY ward_name", WARDS),
        (f"SELECT b.name, SUM(amount) {BUYERS_OF} GROUP BY b.buyer_id, b.name", ""),
        (f"SELECT name, SUM(amount) AS n {BUYERS_OF} GROUP BY name ORDER BY n DESC LIMIT 1", ""),
        (f"SELECT name, SUM(amount) {BUYERS_OF} WHERE b.city = 'Rome' GROUP BY name", ""),
        (f"SELECT name, COUNT(DISTINCT buyer_id), SUM(amount) {BUYERS_OF} GROUP BY name", ""),
        (f"SELECT city, SUM(amount) {BUYERS_OF} GROUP BY city", ""),
        (f"SELECT b.last, COUNT(*) {BUYERS_OF} GROUP BY b.last", ""),
        ("SELECT name, COUNT(*) FROM buyers GROUP BY name HAVING COUNT(*) > 1", ""),
        ("SELECT nurse, SUM(days) FROM visits GROUP BY nurse", ""),
        ("SELECT bed, SUM(days) FROM visits GROUP BY bed", ""),
        ("SELECT ward_name, ward_id, COUNT(*) FROM visits GROUP BY 1, 2", ""),
    ],
)
async def test_a_name_of_several_keys_taken_as_one_is_warned_of(ask_files: Ask, sql: str, warning: str) -> None:
    assert (await ask_files(BUYERS, sql=sql)).unwrap().get("warning", "") == warning


SUMS: dict[str, str | bytes] = {
    "rech.csv": "nr;betrag;rabatt;rest\n1;1.250,50;5 %;1 kg\n2;980,00;n/a;2,5 kg\n3;(120,25);0 %;3\n4;75,5;2,5 %;4\n",
}
BRACKETS = "of \"betrag\" '(120,25)' counts as 0 even as it is replaced: replace() all that is wrong, or leave it out"
PLAIN = "replace(replace(betrag,'.',''),',','.')"


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        (f"SELECT SUM(CAST({PLAIN} AS REAL)) FROM rech", BRACKETS),
        (
            "SELECT AVG(CAST(trim(replace( replace(r.\"betrag\", '.', ''), ',' , '.')) AS FLOAT)) FROM rech r",
            BRACKETS,
        ),
        (
            "SELECT SUM(CAST(replace(betrag, '.', '') AS REAL)) FROM rech",
            BRACKETS.replace("'(120,25)' counts as 0", "'1.250,50' counts as 1250"),
        ),
        (f"SELECT SUM(CAST(replace(replace({PLAIN}, '(', '-'), ')', '') AS REAL)) FROM rech", ""),
        (f"SELECT SUM(CASE WHEN nr = 3 THEN -120.25 ELSE CAST({PLAIN} AS REAL) END) FROM rech", ""),
        (f"SELECT SUM(CAST({PLAIN} AS REAL)) FROM rech WHERE betrag NOT LIKE '(%'", ""),
        ("SELECT SUM(CAST(replace(rest, ',', '.') AS REAL)) FROM rech", ""),
        ("SELECT SUM(CAST(replace(replace(rest, ',', '.'), ' kg', '') AS REAL)) FROM rech", ""),
        (f"SELECT {PLAIN} FROM rech", ""),
    ],
)
async def test_a_text_that_is_no_number_after_its_replacement_is_warned_of(
    ask_files: Ask, sql: str, warning: str
) -> None:
    assert (await ask_files(SUMS, sql=sql)).unwrap().get("warning", "") == warning


PAY: dict[str, str | bytes] = {
    "pay.csv": "Name,Department,Salary,Start\nAnna,Sales,52000,2015\nBo,Sales,48000,2019\nCato,IT,61000,2012\n"
    "Dina,IT,67500,2020\nTotal,,228500,\n",
    "kosten.csv": "Posten;Betrag\nMiete;900,50\nStrom;120,25\nGesamt:;1020,75\n",
    "losses.csv": "loss,eur\ntotal,10\npartial,4\npartial,6\ntotal,20\n",
    "one.csv": "kind,n\ntotal,7\npart,3\nrest,2\n",
}
TOTAL = (
    "the row 'Total' of pay is the sum of the others, and is taken as one of them; "
    "WHERE \"Name\" IS NOT 'Total' leaves it out"
)


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        ("SELECT AVG(Salary), COUNT(*) FROM pay", TOTAL),
        ("SELECT MAX(Salary) FROM pay", TOTAL),
        ("SELECT Department, SUM(Salary) AS s FROM pay GROUP BY Department ORDER BY s DESC LIMIT 1", TOTAL),
        ("WITH p AS (SELECT * FROM pay) SELECT COUNT(*) FROM p", TOTAL),
        (
            "SELECT SUM(Betrag) FROM kosten",
            "the row 'Gesamt:' of kosten is the sum of the others, and is taken as one of them; "
            "WHERE \"Posten\" IS NOT 'Gesamt:' leaves it out",
        ),
        ("SELECT Name FROM pay ORDER BY Salary DESC LIMIT 1", TOTAL),
        ("SELECT Name, Salary FROM pay ORDER BY Salary DESC LIMIT 3", TOTAL),
        ("SELECT Name FROM pay ORDER BY Salary DESC LIMIT 1 OFFSET 1", TOTAL),
        ("SELECT Name, Salary FROM pay ORDER BY Salary DESC", TOTAL),
        ("SELECT Salary FROM pay WHERE Salary > 100000", TOTAL),
        ("SELECT Name, rank() OVER (ORDER BY Salary DESC) FROM pay", TOTAL),
        ("SELECT Name FROM pay ORDER BY Salary LIMIT 1", ""),
        ("SELECT Name, Salary FROM pay ORDER BY Salary", ""),
        ("SELECT Name FROM pay WHERE Salary > 60000", TOTAL),
        ("SELECT Name FROM pay WHERE Salary BETWEEN 60000 AND 900000 ORDER BY Salary", TOTAL),
        ("SELECT Department, SUM(Salary) FROM pay GROUP BY Department ORDER BY 2 DESC", TOTAL),
        ("SELECT Name FROM pay WHERE Salary > 60000 AND Start > 0", ""),
        ("SELECT Name FROM pay WHERE Salary <> 60000", ""),
        ("SELECT Department, SUM(Salary) FROM pay GROUP BY Department ORDER BY 2", ""),
        ("SELECT Department, SUM(Salary) FROM pay GROUP BY Department ORDER BY Department", ""),
        ("SELECT Name FROM pay WHERE Name IS NOT 'Total' ORDER BY Salary DESC LIMIT 1", ""),
        ("SELECT Salary FROM pay WHERE Name = 'Total'", ""),
        ("SELECT Name FROM pay ORDER BY Start DESC LIMIT 2", ""),
        ("SELECT loss, eur FROM losses ORDER BY eur DESC LIMIT 1", ""),
        ("SELECT kind FROM one ORDER BY n DESC LIMIT 1", ""),
        ("SELECT 1", ""),
        ("SELECT AVG(Salary) FROM pay WHERE Name <> 'Total'", ""),
        ("SELECT AVG(Salary) FROM pay WHERE Name NOT LIKE '%total%'", ""),
        ("SELECT SUM(Salary) FROM pay WHERE Name = 'Total'", ""),
        ("SELECT AVG(Salary) FROM pay WHERE Department IS NOT NULL", ""),
        ("SELECT AVG(Salary) FROM pay WHERE Start > 2000", ""),
        ("SELECT MIN(Salary), COUNT(Start) FROM pay", ""),
        ("SELECT Name, SUM(Salary) FROM pay GROUP BY Name", ""),
        ("SELECT * FROM pay", ""),
        ("SELECT SUM(eur) FROM losses", ""),
        ("SELECT SUM(n) FROM one", ""),
    ],
)
async def test_a_total_taken_as_one_of_its_parts_is_warned_of(ask_files: Ask, sql: str, warning: str) -> None:
    assert (await ask_files(PAY, sql=sql)).unwrap().get("warning", "") == warning


PARTS: dict[str, str | bytes] = {
    "empty.csv": "item,eur\nbed,12\nlamp,30\nrug,8\n,50\n",
    "shares.csv": "shop,a,b\nOslo,1,2.5\nRome,2,3\nBari,4,1\nAll,7,6.5\n",
    "items.csv": "item,eur\nbed,12\nlamp,30\nrug,8\nAll items,50\n",
    "months.csv": "month,eur\nJan,12\nFeb,30\nMar,8\nQ1,50\n",
    "votes.csv": "party,votes\nred,12\nblue,30\ngreen,8\nwhite,50\n",
    "gas.csv": "firm,jobs\nShell,12\nBP,30\nEni,8\nTotal Gas,49\n",
    "gaps.csv": "item,room,eur\nbed,1a,12\nlamp,,30\nrug,2b,8\nsofa,,50\n",
    "few.csv": "item,eur\nbed,12\nlamp,30\n,42\n",
    "two.csv": "item,eur\nbed,12\n,30\nrug,8\n,50\n",
    "near.csv": "item,eur\nbed,12\nlamp,30\nrug,8\n,50.01\n",
    "some.csv": "shop,a,b\nOslo,1,2.5\nRome,2,3\nBari,4,1\nAll,7,3\n",
    "quarters.csv": "quarter,eur\nQ1,12\nQ2,30\nQ3,8\nQ4,50\n",
    "years.csv": "year,kind,eur\n2021,a,12\n2022,b,30\n2023,c,8\n2024,d,50\n",
}


@pytest.mark.parametrize(
    ("table", "left"),
    [
        ("empty", '"item" IS NOT NULL'),
        ("shares", "\"shop\" IS NOT 'All'"),
        ("items", "\"item\" IS NOT 'All items'"),
        ("months", "\"month\" IS NOT 'Q1'"),
        *((name, "") for name in ("votes", "gas", "gaps", "few", "two", "near", "some", "quarters", "years")),
    ],
)
async def test_a_total_without_its_usual_name_is_told_by_its_exact_sum(ask_files: Ask, table: str, left: str) -> None:
    number = (
        "a" if table in ("shares", "some") else "jobs" if table == "gas" else "votes" if table == "votes" else "eur"
    )
    files = {f"{table}.csv": PARTS[f"{table}.csv"]}
    for sql in (f"SELECT * FROM {table} ORDER BY {number} DESC LIMIT 1", f"SELECT SUM({number}) FROM {table}"):
        warning = (await ask_files(files, sql=sql)).unwrap().get("warning", "")
        assert ("is the sum of the others" in warning, left in warning) == (bool(left), True)
    kept = f"SELECT SUM({number}) FROM {table} WHERE {left or 1}"
    assert "warning" not in (await ask_files(files, sql=kept)).unwrap()


async def test_a_row_without_a_label_asked_for_is_no_mistake(ask_files: Ask) -> None:
    files = {"empty.csv": PARTS["empty.csv"]}
    assert "warning" not in (await ask_files(files, sql="SELECT SUM(eur) FROM empty WHERE item IS NULL")).unwrap()


BILLS: dict[str, str | bytes] = {
    "bills.csv": "nr,customer,eur\n7,Voss,10\n8,Kern,20\n9,Voss,30\n9,Voss,30\n",
    "answers.csv": "age,sex,likes\n" + "young,f,yes\nold,m,no\nyoung,m,yes\nold,f,no\n" * 5,
    "sold.csv": "item_no,pieces\n1,2\n1,2\n2,3\n1,4\n",
    "seen.csv": "place,bird,n\n" + "".join(f"{n},owl,{n * n}\n" for n in range(9)) + "8,owl,64\n",
}
AGAIN = (
    "1 row is in every column equal to another of bills and counted again ('9, Voss, 30'); "
    'if it is one thing stated twice, take FROM (SELECT DISTINCT * FROM "bills")'
)


@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        ("SELECT SUM(eur) FROM bills", AGAIN),
        ("SELECT customer, COUNT(*), AVG(eur) FROM bills GROUP BY customer", AGAIN),
        (
            "SELECT COUNT(*) FROM seen",
            "1 row is in every column equal to another of seen and counted again ('8, owl, 64'); "
            'if it is one thing stated twice, take FROM (SELECT DISTINCT * FROM "seen")',
        ),
        ("SELECT SUM(eur) FROM (SELECT DISTINCT * FROM bills)", ""),
        ("SELECT SUM(eur) FROM bills WHERE customer = 'Kern'", ""),
        ("SELECT MAX(eur), COUNT(DISTINCT nr) FROM bills", ""),
        ("SELECT * FROM bills", ""),
        ("SELECT COUNT(*) FROM answers WHERE likes = 'yes'", ""),
        ("SELECT SUM(pieces) FROM sold", ""),
    ],
)
async def test_equal_rows_that_count_again_are_warned_of(ask_files: Ask, sql: str, warning: str) -> None:
    assert (await ask_files(BILLS, sql=sql)).unwrap().get("warning", "") == warning
