/// The text of the shell about its commands.
enum ShellHelp {
  static let text = """
    QUERY                     the rows that a query finds: Person WHERE age > 30 SORT(name ASC)
    count QUERY               how many these are
    explain QUERY             how they are found
    tables                    the tables, and how many rows they have
    schema [TABLE]            what tables have
    show TABLE KEY            an object as JSON
    refresh                   moves to the newest version
    begin                     begins a transaction; queries show what is changed in it
    create TABLE OBJECT       makes an object: create Person {"id": 7, "name": "Ann"}
    set TABLE KEY OBJECT      sets the values that OBJECT has: set Person 7 {"name": "Anna"}
    delete TABLE KEY          deletes an object
    delete QUERY              deletes all that a query finds
    commit, cancel            keep or forget what was changed
    quit                      ends; an open transaction is cancelled

    KEY is a primary key in JSON, as 7 or "Ann", or the key of a row, as #5. A table whose name has blanks or is a command stands in
    quotation marks.
    """
}
