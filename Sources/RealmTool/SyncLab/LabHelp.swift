/// The text that `help` prints.
enum LabHelp {
  static let text = """
    Nothing travels between a device and the server until `sync`. A # begins a comment.

    Devices
      new a                      makes the device a, whose user is a, and which shows all objects
      new b as anna              the same of the user anna
      new c where Task "done == false"    shows only what the query finds; other classes are not shown
      copy a to d                copies the file of a: two devices have one identity then
      a offline                  breaks the connection, with all that is under way
      a online                   lets `sync` connect it; a device that has stopped tries again
      kill a                     breaks the connection in the middle: half of what a has to say arrives,
                                 half of the answer too; the rest is lost

    Changes of a device, each of them one transaction
      a: create Task {_id: 1, title: "Buy milk", done: false, tags: ["home"], count: 0}
                                 makes the class at its first use; types follow from the values
      a: set Task 1 title = "Buy oat milk", done = true
      a: add Task 1 count 2      adds to a whole number: what others add counts too
      a: delete Task 1
      a: append Task 1 tags "x"      a: insert Task 1 tags 0 "x"
      a: move Task 1 tags 0 2        a: remove Task 1 tags 0
      a: subscribe Task "done == false"   shows of the class what the query finds ("" finds all)
      a: unsubscribe Task        shows nothing of the class

    Carrying messages
      sync                       carries all messages until nobody has anything to say
      sync a                     the same of one device
      log                        tells what the last sync or kill carried, and what came of it;
                                 sizes are those before compression

    The server
      field Task done            lets queries and rules look at Task.done; the server is restarted,
                                 since it is told the fields when it starts
      rule Task read "owner == $user.id"      who may read; "" lets everybody
      rule Task write "owner == $user.id"     who may write
      trim                       forgets the history that no device of the lab needs
      trim all                   forgets all history: devices that are behind are reset
      save server old            keeps a copy of the server's file
      restore server old         goes on from that copy: devices that know more are reset
      restart server             starts the server anew from its file

    Looking
      show                       what the server and each device have, side by side
      show Task 1                one object, in full
      pending a                  what a has written and no server has decided, in words
      dismiss a                  forgets what was refused of a, once you have seen it
      help                       quit
    """
}
